"""Where a run's randomness comes from: (seed, run) alone, whatever else runs."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from numpy.random import SeedSequence

from ldprl.learning.learner import Learner
from ldprl.mechanisms.mechanism import Mechanism


@dataclass(frozen=True)
class Seeds:
    """Seeds of the users' episodes, and of the mechanism's noise and the learner's draws."""

    world: SeedSequence
    own: SeedSequence


def seeds_of(seed: int, run: int, learner: Learner, mechanism: Mechanism, *, common: bool) -> Seeds:
    """Return the seeds of one run.

    With ``common`` random numbers, users of every learner and mechanism meet the same world:
    its draws depend on (seed, run) alone. Otherwise no two learners or mechanisms share any.
    """
    parts = (
        type(learner).__qualname__,
        type(mechanism).__qualname__,
        mechanism.constants,
        mechanism.guarantee,
    )
    label = zlib.crc32(repr(parts).encode())
    world = SeedSequence(seed, spawn_key=(run,) if common else (run, label, 0))
    return Seeds(world, SeedSequence(seed, spawn_key=(run, label, 1)))
