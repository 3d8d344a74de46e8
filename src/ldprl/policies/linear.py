"""Policies that are linear in what a user sees."""

from __future__ import annotations

from ldprl.policies.layers import Layered


class Linear(Layered):
    """A weighted sum of the features, and a bias, for each output.

    d = (1 + inputs)·outputs; see :mod:`~ldprl.policies.layers` for their order and unit.
    """

    name = "linear"
