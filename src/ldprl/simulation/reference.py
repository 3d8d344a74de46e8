"""Algorithm 1 of the paper, one user at a time: the reference that the engines are tested against.

Each user receives the plan, plays an episode on true states, privatizes the trajectory
and reports once. The service sees reports alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Assignment, shares_of
from ldprl.errors import whole_number
from ldprl.learning.learner import Learner, next_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Array, Policy
from ldprl.simulation.replan import Replan, replan_from
from ldprl.simulation.together import informed
from ldprl.statistics import MOST_USERS, Statistics
from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Turn:
    """One turn of the protocol: what the user was given, and the sums with the report in."""

    assignment: Assignment
    report: Array
    statistics: Statistics


def live(mdp: TabularMDP, policy: Policy, rng: np.random.Generator) -> Trajectory:
    """Return the episode of one user of ``policy``."""
    states, actions, rewards = [], [], []
    state = int(rng.choice(mdp.shape.states, p=mdp.initial))
    for step in range(mdp.horizon):
        action = int(policy[step, state])
        reward = float(mdp.step_rewards[step, state, action])
        if mdp.reward_kind == "bernoulli":
            reward = float(rng.random() < reward)
        states.append(state)
        actions.append(action)
        rewards.append(reward)
        state = int(rng.choice(mdp.shape.states, p=mdp.step_transitions[step, state, action]))
    return Trajectory(states, actions, rewards)


def run_protocol(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    episodes: int,
    seed: int = 0,
    replan: str | Replan = "each",
) -> Iterator[Turn]:
    """Play Algorithm 1 (locally private episodic RL) and yield every episode."""
    whole_number("episodes", episodes, 1, MOST_USERS)
    learner = informed(mdp, learner, mechanism)
    rng = np.random.default_rng(whole_number("seed", seed, 0))
    return _turns(mdp, learner, mechanism, episodes, replan_from(replan), rng)


def _turns(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    episodes: int,
    schedule: Replan,
    rng: np.random.Generator,
) -> Iterator[Turn]:
    source = InsecureSource(rng)
    statistics = mechanism.no_statistics()
    plan: tuple[Assignment, ...] = ()
    replan_at = 0
    for users in range(episodes):
        if users == replan_at:
            plan = next_plan(learner, mechanism, statistics, rng)
            replan_at = users + schedule(users)
        chosen = plan[rng.choice(len(plan), p=shares_of(plan))]
        number = None if chosen.law is None else int(rng.integers(chosen.law.count))
        assignment = chosen.drawn(number)
        trajectory = live(mdp, assignment.table, rng)
        report = mechanism.privatize(trajectory, assignment, source)
        tally = mechanism.tally(report[None])
        if number is not None:
            codec = mechanism.codec(chosen)
            tally = codec.read(codec.write(report), number)
        statistics += mechanism.decode(tally, 1, chosen)
        yield Turn(assignment, report, statistics)
