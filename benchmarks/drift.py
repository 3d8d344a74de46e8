"""A world that changes: ``python -m benchmarks.drift noticed|model|memory``.

``noticed``: answers after the change at which 95% of 200 runs have the alarm (0.01), after four
times as many before it, in 50 blocks of one size; a policy's return changes from H/2 by a share of
H.

``model``: in how many of eight draws a RandomMDP(5, 3, 4) that becomes another one is seen to have
changed from the sums of the model, by the users before and after; ldp-evi at ε = 2.

``memory``: regret of 10⁶ users of a RandomMDP(5, 3, 4) that becomes another one after half of them,
ldp-evi at ε = 2, plans at growth:0.1; and of 10⁶ users of one that does not change. Draws 11 to 18.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from ldprl.catalogue import build
from ldprl.certificates.change import split_evidence
from ldprl.learning.contradictions import model_change
from ldprl.learning.learner import Learner, next_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.simulation.interpreted import serve
from ldprl.simulation.regret import RegretRecorder
from ldprl.simulation.replan import Growth
from ldprl.statistics import Recent, Statistics
from ldprl.worlds import TabularMDP, random_mdp

RUNS = 200
ALARM = 0.01
BLOCKS = 50
SURE = 0.95
USERS = 10**6
DRAWS = range(11, 19)


def noticed(epsilon: float, change: float, after: int) -> float:
    """Return the share of runs that notice a change after this number of answers."""
    rng, keep = np.random.default_rng(1), 1 / (1 + math.exp(-epsilon))
    worth = np.full(BLOCKS, 0.5)
    worth[-BLOCKS // 5 :] -= change
    size = after * 5 // BLOCKS
    ones = rng.binomial(size, 1 - keep + (2 * keep - 1) * worth, (RUNS, BLOCKS))
    terms = split_evidence(np.full(ones.shape, size), ones)
    return float((np.logaddexp.reduce(terms, axis=-1) >= -math.log(ALARM)).mean())


def needed(epsilon: float, change: float) -> int:
    """Return about how many answers it takes until 95% of the runs notice, to 5%."""
    high = 100.0
    while noticed(epsilon, change, int(high)) < SURE:
        high *= 2
    low = high / 2
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        if noticed(epsilon, change, int(middle)) < SURE:
            low = middle
        else:
            high = middle
    return int(high)


def regret(worlds: list[TabularMDP], memory: int | None, draw: int) -> float:
    """Return the regret of USERS users who meet one world after the other."""
    shape, rng = worlds[0].shape, np.random.default_rng(draw)
    learner, mechanism = build("ldp-evi", "subset-selection", shape, episodes=USERS, epsilon=2.0)
    recent, pace = Recent(mechanism.no_statistics(), memory), Growth(0.1)
    lost = 0.0
    for world in worlds:
        share = USERS // len(worlds)
        recorder = RegretRecorder(world, np.array([share]))
        while recorder.users < share:
            users = min(pace(recent.total.users), share - recorder.users)
            plan = next_plan(learner, mechanism, recent.total, rng)
            recent.add(serve(world, mechanism, plan, users, rng, recorder, rng))
        lost += recorder.total
    return lost


def model() -> None:
    """Print in how many draws the change of the model is seen."""
    for users in (5000, 10_000, 20_000, 40_000):
        seen = 0
        for draw in DRAWS:
            worlds = [random_mdp(5, 3, 4, draw + 100 * k) for k in (0, 1)]
            shape, rng = worlds[0].shape, np.random.default_rng(draw)
            pair = build("ldp-evi", "subset-selection", shape, episodes=USERS, epsilon=2.0)
            blocks = dict(enumerate(served(worlds, *pair, users, rng)))
            seen += model_change(pair[1], blocks) is not None
        print(f"| {users:,} | {seen} of {len(DRAWS)} |", flush=True)


def served(
    worlds: list[TabularMDP],
    learner: Learner,
    mechanism: Mechanism,
    users: int,
    rng: np.random.Generator,
) -> list[Statistics]:
    """Return the sums of ``users`` users of each world, in four blocks, with a plan for each."""
    blocks: list[Statistics] = []
    for world in worlds:
        recorder = RegretRecorder(world, np.array([users]))
        for _ in range(4):
            total = sum(blocks, mechanism.no_statistics())
            plan = next_plan(learner, mechanism, total, rng)
            blocks.append(serve(world, mechanism, plan, users // 4, rng, recorder, rng))
    return blocks


def memory() -> None:
    """Print regret with memories of several lengths, mean and standard error."""
    for kept in (None, 10**5, 2 * 10**5, 4 * 10**5):
        row = []
        for change in (True, False):
            found = [
                regret([random_mdp(5, 3, 4, draw + 100 * k) for k in range(1 + change)], kept, draw)
                for draw in DRAWS
            ]
            error = np.std(found, ddof=1) / math.sqrt(len(found))
            row.append(f"{np.mean(found):,.0f} ± {error:,.0f}, worst {max(found):,.0f}")
        print(f"| {'all' if kept is None else f'{kept:,}'} | {' | '.join(row)} |", flush=True)


def main() -> None:
    """Print a table of docs/drift.md."""
    tables = {"noticed": answers, "model": model, "memory": memory}
    if len(sys.argv) != 2 or sys.argv[1] not in tables:
        sys.exit(__doc__)
    tables[sys.argv[1]]()


def answers() -> None:
    """Print how many answers it takes to notice a change of the return."""
    for change in (0.2, 0.1, 0.05):
        row = [f"{needed(epsilon, change):,}" for epsilon in (1.0, 2.0, 4.0)]
        print(f"| {change:.2f} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
