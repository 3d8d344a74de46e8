"""The loop in numpy, for any mechanism, learner and rule of when to plan.

Plan, draw the sums of the users until the next plan, add them up.

Where episodes take time, ``lag`` users begin before the first of them reports. Reports come in the
order of the users, so a plan that is made of n reports is given to users from n + lag on. Until
then the earlier plans are followed, and the first one from the beginning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from ldprl.assignment import Assignment, Plan, shares_of
from ldprl.learning.learner import Learner, next_plan
from ldprl.mechanisms.mechanism import Mechanism, TellsReturn
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.regret import RegretRecorder
from ldprl.simulation.replan import Replan
from ldprl.simulation.seeds import Seeds
from ldprl.simulation.world import draw_true_counts
from ldprl.statistics import Recent, Statistics
from ldprl.worlds.tabular import TabularMDP


def run(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    points: IntArray,
    rule: Replan,
    seeds: Seeds,
    progress: Callable[[int], None],
    memory: int | None = None,
    lag: int = 0,
) -> tuple[FloatArray, Statistics]:
    """Return the regret at the checkpoints ``points``, and what is remembered after the last."""
    recorder, last = RegretRecorder(mdp, points), int(points[-1])
    rng = np.random.default_rng(seeds.own)
    recent = Recent(mechanism.no_statistics(), memory)
    plans: deque[tuple[int, Plan]] = deque()
    due = 0
    while (users := recorder.users) < last:
        if users == due:
            # What nobody begins with is not made.
            if not plans or users + lag < last:
                made = next_plan(learner, mechanism, recent.total, rng)
                plans.append((users + lag if plans else 0, made))
            due += rule(users)
        if len(plans) > 1 and plans[1][0] <= users:
            plans.popleft()
        end = min(due, last, plans[1][0] if len(plans) > 1 else last)
        # A stream for each batch: its users' episodes do not depend on past batches.
        chance = np.random.default_rng([*seeds.world.generate_state(4), users])
        recent.add(serve(mdp, mechanism, plans[0][1], end - users, rng, recorder, chance))
        progress(recorder.users)
    return recorder.curve, recent.total


def batch(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    statistics: Statistics,
    users: int,
    rng: np.random.Generator,
    recorder: RegretRecorder,
) -> Statistics:
    """Plan once, serve ``users`` users, and return the sums of their decoded reports."""
    plan = next_plan(learner, mechanism, statistics, rng)
    return serve(mdp, mechanism, plan, users, rng, recorder, rng)


def serve(
    mdp: TabularMDP,
    mechanism: Mechanism,
    plan: Plan,
    users: int,
    rng: np.random.Generator,
    recorder: RegretRecorder,
    chance: np.random.Generator,
    received: Callable[[Assignment, int, Array], None] | None = None,
) -> Statistics:
    """Serve ``users`` users by one plan, and return the sums of their decoded reports.

    ``received`` is called with each assignment, the number of its users and their tally.
    """
    groups = rng.multinomial(users, shares_of(plan))
    gathered: Statistics = mechanism.no_statistics()
    lost = 0.0
    for assignment, group in zip(plan, groups.tolist(), strict=True):
        if group and assignment.law is not None and isinstance(mechanism, TellsReturn):
            from ldprl.simulation.random_policies import sample_by_table

            tally, loss = sample_by_table(mdp, mechanism, assignment, group, chance)
            gathered += mechanism.decode(tally, group, assignment)
            lost += loss
            if received is not None:
                received(assignment, group, tally)
            continue
        # Users of one table are drawn at once, and decoded by their assignment.
        for one, count in assignment.spread(group, rng) if group else ():
            totals = draw_true_counts(mdp, one.table, count, mechanism.resolution, chance)
            tally = mechanism.sample_tally(totals, one, rng)
            gathered += mechanism.decode(tally, count, one)
            lost += count * recorder.loss(one.table)
            if received is not None:
                received(one, count, tally)
    recorder.add(users, lost / users)
    return gathered
