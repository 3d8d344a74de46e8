"""Many users in a world that can only be sampled: each plays an episode, and only bits are added.

Versions follow each other as in a service: a plan, its users, their sums, the next plan. Users are
drawn in blocks, each from a stream of its own, so that the result does not depend on which thread
plays which block, nor on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from ldprl.assignment import Assignment, Plan, shares_of
from ldprl.errors import InputError, instance_of
from ldprl.learning.learner import Learner, next_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.together import informed_of
from ldprl.worlds.sampled import SampledWorld

_BLOCK = 2048
"""Users of a block: enough to evaluate policies together, and few enough to share among threads."""
_MOST_NUMBERS = 2**22
"""Parameters of the users of a block: 32 MB of doubles."""
BETWEEN_LOOKS = 1.2
"""By how much users grow between two looks at what the learnt policy is worth."""
_FRESH, _LAST = 100, 1000
"""Episodes of such a look, and of the last: a standard error of at most 5%, 1.6% of the range."""
_PLANNING, _LOOKING, _PLAYING = 0, 1, 2
"""What a stream is for."""


@runtime_checkable
class Sized(Protocol):
    """A learner that says how many users its next plan is for."""

    def plan_size(self, users: int) -> int:
        """Return how many, after so many users."""


@runtime_checkable
class Sampled(Protocol):
    """A mechanism of users whose return and shifted parameters are all that it needs."""

    def sample_sums(
        self,
        assignment: Assignment,
        shifts: NDArray[np.int8],
        returns: FloatArray,
        rng: Generator,
    ) -> IntArray:
        """Return the tally of users with these shifts and returns; each report is drawn."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """What happened in one run.

    Attributes
    ----------
    users
        How many users there were after each version, of shape (versions,).
    earned
        The mean return of the users of each version.
    looks, worth
        After how many users the learnt policy was looked at, and its mean return in fresh episodes
        then; the last look is the longest one.
    policy
        The policy to hand over.
    """

    users: IntArray
    earned: FloatArray
    looks: IntArray
    worth: FloatArray
    policy: ParametricPolicy

    @property
    def mean_return(self) -> float:
        """What users earned, on average over all of them."""
        return float(self.earned @ np.diff(self.users, prepend=0) / self.users[-1])


class NothingYetError(Exception):
    """A run was stopped before its first version."""


class Streams(NamedTuple):
    """The streams of one run: what one is for, in which version and block, and nothing else."""

    seed: int
    run: int

    def stream(self, use: int, version: int, block: int = 0) -> Generator:
        """Return a generator."""
        key = (self.run, use, version, block)
        return np.random.default_rng(SeedSequence(self.seed, spawn_key=key))


def roll_out(
    world: SampledWorld,
    learner: Learner,
    mechanism: Mechanism,
    users: int,
    streams: Streams,
    show: Callable[[int], None],
    threads: int = 1,
    stopped: Callable[[], bool] = lambda: False,
    between_looks: float = BETWEEN_LOOKS,
) -> Rollout:
    """Simulate one run of ``users`` users; threads share the blocks of a version.

    ``stopped`` is asked before each version: the run then ends with what there is. The learnt
    policy is looked at whenever users have grown ``between_looks`` times.
    """
    if not isinstance(learner, Sized):
        raise InputError("learner", learner.name, "one of parameters, such as ldp-es")
    if not isinstance(mechanism, Sampled):
        raise InputError("mechanism", mechanism.name, "one of returns, such as threshold-bits")
    informed_of(world.problem, None, learner, mechanism)
    statistics: Any = mechanism.no_statistics()
    ends, looks = [0], list[int]()
    earned, worth = list[float](), list[float]()
    with ThreadPoolExecutor(threads) as pool:
        map_blocks = map if threads == 1 else pool.map
        while ends[-1] < users and not stopped():
            version, done = len(earned), ends[-1]
            planning = streams.stream(_PLANNING, version)
            if not looks or done >= looks[-1] * between_looks:
                looks.append(done)
                policy = learner.best_policy(statistics, planning)
                worth.append(_worth(world, policy, streams, version, _FRESH))
            plan = next_plan(learner, mechanism, statistics, planning)
            count = min(learner.plan_size(done), users - done)
            blocks = list(_blocks(plan, count, planning))
            paid = 0.0
            for one, (tally, total) in zip(
                blocks,
                map_blocks(partial(_played, world, mechanism, streams, version), blocks),
                strict=True,
            ):
                statistics += mechanism.decode(tally, one.users, one.assignment)
                paid += total
            ends.append(done + count)
            earned.append(paid / count)
            show(ends[-1])
    if not earned:
        raise NothingYetError
    policy = learner.best_policy(statistics, streams.stream(_PLANNING, len(earned)))
    looks.append(ends[-1])
    fresh = _LAST if ends[-1] == users else _FRESH
    worth.append(_worth(world, policy, streams, len(earned), fresh))
    return Rollout(
        users=np.array(ends[1:]),
        earned=np.array(earned),
        looks=np.array(looks),
        worth=np.array(worth),
        policy=policy,
    )


class Block(NamedTuple):
    """Users of one assignment who are drawn together."""

    number: int
    assignment: Assignment
    users: int


def _blocks(plan: Plan, users: int, rng: Generator) -> Iterator[Block]:
    """Divide the users of a plan among its assignments, and those of each into blocks."""
    number = 0
    for assignment, count in zip(plan, rng.multinomial(users, shares_of(plan)), strict=True):
        law = instance_of("assignment.law", assignment.distribution, Perturbed)
        most = max(1, min(_BLOCK, _MOST_NUMBERS // law.problem.size))
        for start in range(0, int(count), most):
            yield Block(number, assignment, min(most, int(count) - start))
            number += 1


def _played(
    world: SampledWorld, mechanism: Sampled, streams: Streams, version: int, block: Block
) -> tuple[IntArray, float]:
    """Return the tally of a block, and what its users were paid in all."""
    rng, law = streams.stream(_PLAYING, version, block.number), block.assignment.distribution
    assert isinstance(law, Perturbed)
    shifts = law.draw(rng, block.users)
    returns = world.returns(law.shifted(shifts), rng)
    return mechanism.sample_sums(block.assignment, shifts, returns, rng), float(returns.sum())


def _worth(
    world: SampledWorld, policy: ParametricPolicy, streams: Streams, version: int, episodes: int
) -> float:
    return world.mean_return(policy.parameters, streams.stream(_LOOKING, version), episodes)
