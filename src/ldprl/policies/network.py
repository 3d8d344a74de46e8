"""Policies that are small neural networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ldprl.errors import InputError, one_of, whole_number
from ldprl.policies.elementary import ACTIVATIONS
from ldprl.policies.layers import Layered
from ldprl.policies.written import MOST_PARAMETERS


class Network(Layered):
    """A network with hidden layers, all of one activation.

    Where all parameters are zero no single one of them changes an action; users' are spread around
    zero, and so it can be started from.

    Parameters
    ----------
    hidden
        How many units each hidden layer has.
    activation
        ``"tanh"``, ``"relu"`` or ``"softsign"``.
    **rest
        What every parametric problem takes: see :class:`~ldprl.policies.parametric.Parametric`.
    """

    name = "network"
    options = ("hidden", "activation")

    def __init__(
        self, *, hidden: Sequence[int] = (16,), activation: str = "tanh", **rest: Any
    ) -> None:
        many = isinstance(hidden, Sequence) and not isinstance(hidden, str)
        if not many or not 1 <= len(hidden) <= self.most_hidden:
            raise InputError("hidden", hidden, f"1 to {self.most_hidden} numbers of units")
        self.hidden = tuple(whole_number("hidden", size, 1, MOST_PARAMETERS) for size in hidden)
        self.activation = one_of("activation", activation, ACTIVATIONS)
        super().__init__(**rest)
