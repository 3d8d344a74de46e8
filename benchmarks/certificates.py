"""What certificates cost: ``python -m benchmarks.certificates overhead|limit [RUNS]``.

``overhead``: regret with certificates and without, 10⁶ users of RandomMDP(10, 3, 5), draws 1 to 8.
``limit``: with a limit of 5%, the most that users had lost at any time, and the regret.
"""

from __future__ import annotations

import sys

import numpy as np

from ldprl.catalogue import build
from ldprl.certificates import Scale, Terms
from ldprl.mdp.evaluation import optimum, policy_values
from ldprl.mdp.specification import mdp_from
from ldprl.mdp.tabular import TabularMDP
from ldprl.questions.worth import Worth
from ldprl.shape import Policy
from ldprl.simulation.certified import CertifiedRun, certified_run
from ldprl.simulation.engine import simulate

USERS = 10**6
PROBLEMS = (
    ("random:3,2,3,1", "ldp-evi"),
    ("random:5,3,4,2", "ldp-evi"),
    ("random:10,3,5,3", "ldp-evi"),
    ("random:10,3,5,4", "ldp-returns"),
    ("riverswim:4,6", "ldp-evi"),
    ("grid:3,3,6", "ldp-evi"),
)


def mean(values: list[float]) -> str:
    """Write a mean with its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):,.0f} ± {error:,.0f}"


def value_of(world: TabularMDP, policy: Policy) -> float:
    """Return the mean return of a policy."""
    return float(world.initial @ policy_values(world, policy)[0])


def runs_of(
    world: TabularMDP,
    name: str,
    incumbent: Policy | None,
    most_lost: float | None,
    seed: int,
    replan: str = "growth:0.1",
) -> list[tuple[int, float, CertifiedRun]]:
    """Return users and regret after each plan of one run at ε = 2, and its state at the end."""
    mechanism_name = "return-bits" if name == "ldp-returns" else "subset-selection"
    learner, mechanism = build(name, mechanism_name, world.shape, episodes=USERS, epsilon=2.0)
    keep = float(mechanism.oracle(Worth()).keep)  # type: ignore[attr-defined]
    terms = Terms(0.1, 0.95, Scale(keep, world.horizon), incumbent, most_lost)
    states = certified_run(world, learner, mechanism, terms, USERS, seed, replan=replan)
    return [(state.users, state.recorder.total, state) for state in states]


def overhead(runs: int) -> None:
    """Compare the regret of the same draws with and without certificates."""
    base, alone, both, paid = [], [], [], []
    growth = "growth:0.05"
    for seed in range(runs):
        for draw in range(1, 9):
            world = mdp_from(f"random:10,3,5,{draw}")
            learner, mechanism = build(
                "ldp-evi", "subset-selection", world.shape, episodes=USERS, epsilon=2.0
            )
            result = simulate(world, learner, mechanism, USERS, 1, seed, growth)
            base.append(float(result.regret[0]))
            alone.append(runs_of(world, "ldp-evi", None, None, seed + 1000, growth)[-1][1])
            incumbent = np.zeros((5, 10), dtype=np.int64)
            *_, last = runs_of(world, "ldp-evi", incumbent, None, seed + 1000, growth)
            _, regret, state = last
            both.append(regret)
            gap = value_of(world, optimum(world).policy) - value_of(world, incumbent)
            paid.append(state.evidence.incumbent.users * gap)
    print(f"without certificates {mean(base)}, with them {mean(alone)}, with an incumbent"
          f" {mean(both)}, of which its users lost {mean(paid)}")  # fmt: skip


def limit(runs: int) -> None:
    """Let users lose 5% of a policy at most: the best one, with 40% of its actions redrawn."""
    for spec, name in PROBLEMS:
        world = mdp_from(spec)
        best, rng = optimum(world).policy, np.random.default_rng(0)
        redrawn = rng.random(best.shape) < 0.4
        incumbent = np.where(redrawn, rng.integers(world.shape.actions, size=best.shape), best)
        value, most = value_of(world, incumbent), value_of(world, best)
        for allowed in (None, 0.05):
            worst, regrets = [], []
            for seed in range(runs):
                found = runs_of(world, name, incumbent, allowed, seed)
                worst.append(max((r - n * (most - value)) / (n * value) for n, r, _ in found))
                regrets.append(found[-1][1])
            print(
                f"{spec} {name}: best {most:.2f}, incumbent {value:.2f} (regret"
                f" {USERS * (most - value):,.0f}), allowed {allowed}: lost at most"
                f" {max(*worst, 0):.1%} at any time, regret {mean(regrets)}",
                flush=True,
            )


if __name__ == "__main__":
    {"overhead": overhead, "limit": limit}[sys.argv[1]](
        int(sys.argv[2]) if len(sys.argv) > 2 else 2
    )
