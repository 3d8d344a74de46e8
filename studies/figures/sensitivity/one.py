"""``python -m studies.figures.sensitivity.one MODULE NAME VALUE``: run with one constant changed.

Compiled code has its constants in it, and a cache of it would not notice a change: each value has a
process and a cache of its own. Prints the regrets as JSON, by problem.
"""

from __future__ import annotations

import importlib
import json
import sys

from ldprl.catalogue import LEARNERS, build
from ldprl.simulation.engine import simulate
from ldprl.worlds.specification import mdp_from

EPSILON, REPLAN, SEED = 1.0, "growth:0.1", 20_000
"""Seeds and draws from here on were neither chosen by nor reported on elsewhere."""
TABLES = {
    "bandit 0.9, 0.7": (("bandit:0.9,0.7",), 10**6, 100),
    "2×2×2, 20 draws": (tuple(f"random:2,2,2,{SEED + i}" for i in range(20)), 10**6, 5),
}
"""By name: sources, users and runs of each."""
FEATURES = {"CartPole": ("cartpole", 4_000, 10), "glucose": ("glucose", 10_000, 10)}


def regrets(learner: str) -> dict[str, list[list[float]]]:
    """Return the regrets of a learner by problem and source."""
    found: dict[str, list[list[float]]] = {}
    if learner == "ldp-es":
        return {name: [_on_features(*how)] for name, how in FEATURES.items()}
    for name, (sources, users, runs) in TABLES.items():
        for source in sources:
            mdp = mdp_from(source)
            mechanism = LEARNERS.find(learner).usual_mechanism
            pair = build(learner, mechanism, mdp.shape, episodes=users, epsilon=EPSILON)
            result = simulate(mdp, *pair, users, runs, SEED, REPLAN)
            found.setdefault(name, []).append(result.regret.tolist())
    return found


def _on_features(name: str, users: int, runs: int) -> list[float]:
    from dataclasses import replace

    from studies.figures.any_policy.problems import PROBLEMS
    from studies.figures.any_policy.runs import run

    problem = replace(next(one for one in PROBLEMS if one.name == name), users=users)
    outcomes = (run(problem, "private", EPSILON, SEED + i) for i in range(runs))
    return [one.regret * users for one in outcomes]


if __name__ == "__main__":
    module, constant, value, learner = sys.argv[1:]
    setattr(importlib.import_module(module), constant, float(value))
    print(json.dumps(regrets(learner)))
