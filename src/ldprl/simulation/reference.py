"""Algorithm 1 of the paper, one user at a time: the reference that the engines are tested against.

Each user receives the plan, plays an episode on true states, privatizes the trajectory
and reports once. The service sees reports alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ldprl.assignment import Assignment, shares_of
from ldprl.errors import instance_of, whole_number
from ldprl.learning.learner import Learner, next_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.policies.policy import MOST_POLICIES, Policy
from ldprl.policies.tables import Table
from ldprl.problem import Problem
from ldprl.shape import Array, IntArray
from ldprl.simulation.replan import Replan, replan_from
from ldprl.simulation.together import informed, informed_of
from ldprl.statistics import MOST_USERS
from ldprl.worlds.episodes import EpisodeSampler
from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Turn:
    """One turn of the protocol: what the user was given, and the sums with the report in."""

    assignment: Assignment
    report: Array
    statistics: Any


@runtime_checkable
class World(Protocol):
    """What users act in, one at a time."""

    @property
    def problem(self) -> Problem:
        """What users see and do."""

    def episode(self, policy: Policy, rng: np.random.Generator) -> Any:
        """Return the data, as the mechanism takes them, of one user of ``policy``."""


Play = Callable[[Policy, np.random.Generator], Any]


def episode(mdp: TabularMDP, policy: IntArray, rng: np.random.Generator) -> Trajectory:
    """Return the episode of one user of ``policy``."""
    sampler = EpisodeSampler(mdp, rng)
    states, actions, rewards = [sampler.start()], [], []
    for step in range(mdp.horizon):
        actions.append(int(policy[step, states[-1]]))
        reward, state = sampler.step(states[-1], actions[-1])
        rewards.append(reward)
        states.append(state)
    return Trajectory(states[:-1], actions, rewards)


def run_protocol(
    mdp: TabularMDP | World,
    learner: Learner,
    mechanism: Mechanism,
    episodes: int,
    seed: int = 0,
    replan: str | Replan = "each",
) -> Iterator[Turn]:
    """Play Algorithm 1 (locally private episodic RL) and yield every episode.

    In place of an MDP a :class:`World` of any kind will do.
    """
    whole_number("episodes", episodes, 1, MOST_USERS)
    play: Play
    if isinstance(mdp, World):
        learner, play = informed_of(mdp.problem, None, learner, mechanism), mdp.episode
    else:
        learner, play = informed(mdp, learner, mechanism), partial(_episode, mdp)
    rng = np.random.default_rng(whole_number("seed", seed, 0))
    return _turns(play, learner, mechanism, episodes, replan_from(replan), rng)


def _episode(mdp: TabularMDP, policy: Policy, rng: np.random.Generator) -> Trajectory:
    return episode(mdp, instance_of("policy", policy, Table).actions, rng)


def _turns(
    play: Play,
    learner: Learner,
    mechanism: Mechanism,
    episodes: int,
    rule: Replan,
    rng: np.random.Generator,
) -> Iterator[Turn]:
    source = InsecureSource(rng)
    statistics = mechanism.no_statistics()
    plan: tuple[Assignment, ...] = ()
    replan_at = 0
    for users in range(episodes):
        if users == replan_at:
            plan = next_plan(learner, mechanism, statistics, rng)
            replan_at = users + rule(users)
        chosen = plan[rng.choice(len(plan), p=shares_of(plan))]
        number = int(rng.integers(MOST_POLICIES)) if chosen.numbered else None
        assignment = chosen.drawn(number)
        report = mechanism.privatize(play(assignment.policy, rng), assignment, source)
        tally = mechanism.tally(report[None])
        if number is not None:
            codec = mechanism.codec(chosen)
            tally = codec.read(codec.write(report), number)
        statistics += mechanism.decode(tally, 1, chosen)
        yield Turn(assignment, report, statistics)
