"""The cells of the suite: who learns, in which world, with which ε, and what one cell found."""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ldprl.bounds import instance_lower_bound
from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.experiments.cells import StoppedError
from ldprl.learnt.share import learnt
from ldprl.mechanisms.mechanism import Constants, PrivacyWarning
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.engine import simulate
from studies.suite.worlds import EPSILONS, REPORTING, WORLDS, World, table_of

_HALF, _MOST = 0.5, 0.9
"""Shares of the gap whose users are counted."""
_ROUNDING = 1e-9
"""Regret is a sum of many terms, and ε-greedy loses a tenth of the gap exactly."""


@dataclass(frozen=True)
class Entry:
    """A learner with the mechanisms that feed it, with privacy and without.

    Attributes
    ----------
    name
        What the scoreboard calls it.
    learner
        Its name in the catalogue.
    private, open
        Its mechanism at some ε, and without privacy; None if there is none.
    constants
        Those of the paper, or sound ones.
    states
        It plays in tables of at most so many states: with more a run takes too long. 0: features.
    least
        It plays in tables of at least so many states.
    """

    name: str
    learner: str
    private: str | None
    open: str | None
    states: int
    constants: Constants = "sound"
    least: int = 1


ENTRIES = (
    Entry("LDP-TS", "ldp-ts", "subset-selection", "none", 25),
    Entry("LDP-RETURNS", "ldp-returns", "return-bits", None, 128),
    Entry("LDP-WAYS", "ldp-ways", "bits-and-moves", None, 10**3, least=25),
    Entry("LDP-EVI", "ldp-evi", "subset-selection", "none", 25),
    Entry("LDP-OBI", "ldp-obi", "laplace", "none", 100),
    Entry("LDP-OBI, printed", "ldp-obi", "laplace", "none", 100, "paper"),
    Entry("LDP-PSRL", "ldp-psrl", "laplace", "none", 100),
    Entry("UCB-VI (Bernstein)", "ucb-vi-bernstein", None, "none", 100),
    Entry("PSRL", "psrl", None, "none", 100),
    Entry("ε-greedy", "epsilon-greedy", "subset-selection", "none", 25),
    Entry("explore then commit", "explore-then-commit", "subset-selection", "none", 25),
    Entry(
        "LDP-ES", "ldp-es", "threshold-bits", "ldprl.mechanisms.whole_return:WholeReturn", states=0
    ),
    Entry("random search", "random-search", "threshold-bits", None, states=0),
)


@dataclass(frozen=True)
class Run:
    """What one run came to.

    Attributes
    ----------
    regret
        Of all users together.
    share
        Of the gap between acting at random and the best policy: what the policy closes that would
        be handed over at the end.
    users_share
        The same of all users, on average: 1 − regret / (users · gap).
    half, most
        Users until half of the gap and 90% are closed, in tables for good; None if they are not.
    """

    regret: float
    share: float
    users_share: float
    half: int | None
    most: int | None


@dataclass(frozen=True)
class Found:
    """The runs of a cell, the instance's least regret if it has a bound, and how long they took."""

    runs: tuple[Run, ...]
    bound: float | None
    seconds: float

    def document(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class SuiteCell:
    """Runs of one learner in one source at one ε, computed and kept together."""

    world: str
    source: str
    who: Entry
    epsilon: float | None
    seed: int
    runs: int
    users: int
    replan: str = "growth:0.1"
    bounded: bool = field(default=False, compare=False)

    @property
    def key(self) -> str:
        """All that tells it apart."""
        where, who = (self.world, self.source), (self.who.name, self.epsilon)
        return " | ".join(map(str, (*where, *who, self.seed, self.runs, self.users, self.replan)))

    @property
    def mechanism(self) -> str:
        """What makes the reports."""
        who = self.who
        name = who.open if self.epsilon is None else who.private
        assert name is not None
        return name

    def compute(self) -> Found:
        """Run the simulations."""
        try:
            return self._in_table() if self.who.states else self._by_features()
        except Exception:
            raise StoppedError(f"{self.key} failed\n{traceback.format_exc()}") from None

    def _in_table(self) -> Found:
        mdp = table_of(self.source)
        with warnings.catch_warnings():
            # The constants of the paper warn that they are not sound: that is why both play.
            warnings.simplefilter("ignore", PrivacyWarning)
            learner, mechanism = build(
                self.who.learner,
                self.mechanism,
                mdp.shape,
                episodes=self.users,
                epsilon=self.epsilon,
                constants=self.who.constants,
                structure=mdp.structure,
            )
        found = simulate(mdp, learner, mechanism, self.users, self.runs, self.seed, self.replan)
        worth = learnt(mdp, learner, found.statistics)
        gap = worth.best_value - worth.random_value
        runs = [
            Run(
                regret=float(curve[-1]),
                share=share,
                users_share=1 - float(curve[-1]) / (self.users * gap),
                half=users_before(found.checkpoints, curve, (1 - _HALF) * gap),
                most=users_before(found.checkpoints, curve, (1 - _MOST) * gap),
            )
            for curve, share in zip(found.curves, worth.shares, strict=True)
        ]
        least = _bound(self.source, self.epsilon) if self.bounded else None
        return Found(
            tuple(runs), None if least is None else least * math.log(self.users), found.seconds
        )

    def _by_features(self) -> Found:
        from studies.figures.any_policy.problems import PROBLEMS
        from studies.figures.any_policy.runs import LEARNERS, run

        problem = replace(
            next(one for one in PROBLEMS if one.name == self.source), users=self.users
        )
        role = next(
            name for name, pair in LEARNERS.items() if pair == (self.who.learner, self.mechanism)
        )
        runs, seconds = [], 0.0
        for seed in range(self.seed, self.seed + self.runs):
            outcome = run(problem, role, self.epsilon, seed)
            seconds += outcome.seconds
            lost = outcome.regret * self.users
            shares = (outcome.share, outcome.users_share)
            runs.append(Run(lost, *shares, outcome.half, outcome.enough))
        return Found(tuple(runs), None, seconds)


@lru_cache
def _bound(source: str, epsilon: float | None) -> float:
    return instance_lower_bound(table_of(source), epsilon).constant


def users_before(users: IntArray, regret: FloatArray, allowed: float) -> int | None:
    """Return the users behind whom all lose ``allowed`` at most, on average between checkpoints.

    ``regret`` is that of all users so far; what a user loses is its slope. A lucky first guess that
    is left again does not count. None if the last ones lose more.
    """
    slopes = np.diff(regret, prepend=0.0) / np.diff(users, prepend=0)
    high = np.flatnonzero(slopes > allowed * (1 + _ROUNDING))
    if not len(high):
        return 0
    return None if high[-1] == len(users) - 1 else int(users[high[-1]])


def entries_in(
    world: World, entries: Sequence[Entry] = ENTRIES
) -> Iterator[tuple[Entry, float | None]]:
    """Yield who plays in a world, and at which ε."""
    for entry in entries:
        features = world.states == entry.states == 0
        plays = features or entry.least <= world.states <= entry.states
        for epsilon in EPSILONS:
            mechanism = entry.open if epsilon is None else entry.private
            if plays and mechanism is not None:
                yield entry, epsilon


def cells_of(
    world: World, quick: bool = False, entries: Sequence[Entry] = ENTRIES
) -> list[SuiteCell]:
    """Return the cells of a world.

    A quick look has ε = 1, 10⁵ users, 3 runs or draws at most, and no bound of the instance.

    Everybody plays in the first draw before anybody does in the second: what has run when somebody
    interrupts can be compared.
    """
    found = []
    users, runs = (
        (min(world.users, 10**5), min(world.runs, 3)) if quick else (world.users, world.runs)
    )
    for source in world.sources()[: 3 if quick else None]:
        for place in range(min(world.cells, 3) if quick else world.cells):
            seed = REPORTING[place * world.runs]
            found += [
                SuiteCell(
                    world.name,
                    source,
                    entry,
                    epsilon,
                    seed,
                    runs,
                    users,
                    world.replan,
                    # The bound needs SciPy, which the demo does not install.
                    world.bounded and not quick,
                )
                for entry, epsilon in entries_in(world, entries)
                if not quick or epsilon == 1
            ]
    return found


def worlds_named(names: str | None, quick: bool = False) -> list[World]:
    """Return the worlds of a list with commas, or all; the quick ones are small tables."""
    known = {world.name: world for world in WORLDS}
    if names is None:
        return [world for world in WORLDS if not quick or 0 < world.states <= 2]
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise InputError("only", unknown[0], f"of {', '.join(known)}")
    return [known[name] for name in names.split(",")]
