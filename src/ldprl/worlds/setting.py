"""What an environment says of itself, before its users have a kind of policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ldprl.errors import InputError
from ldprl.policies.actions import Actions
from ldprl.policies.features import Features
from ldprl.policies.parametric import Parametric
from ldprl.worlds.sampled import SampledWorld


@dataclass(frozen=True)
class Setting:
    """What is needed, beside a kind of policy, to make a world.

    Attributes
    ----------
    name
        As people call it.
    features, actions
        What users see and do.
    build
        Makes the world of a problem.
    horizon
        The step at which episodes are usually cut; None: not known.
    returns
        The range of returns for a horizon; None: not known.
    unscaled
        Features without bounds, which enter as they are.
    """

    name: str
    features: Features
    actions: Actions
    build: Callable[[Parametric], SampledWorld]
    horizon: int | None = None
    returns: Callable[[int], tuple[float, float]] | None = None
    unscaled: tuple[str, ...] = ()

    def scaled(self, scale: Sequence[float | str]) -> Setting:
        """Return the same with other scales: one for each entry of an observation."""
        each = self.features.each
        if isinstance(scale, str) or not isinstance(scale, Sequence) or len(scale) != len(each):
            raise InputError("scale", scale, f"{len(each)} numbers, one for each entry")
        pairs = zip(each, scale, strict=True)
        new = (one if one.categories else replace(one, scale=size) for one, size in pairs)
        return replace(self, features=Features(tuple(new)), unscaled=())
