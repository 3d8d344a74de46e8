"""What certificates cost: ``python -m benchmarks.certificates overhead|limit [RUNS]``.

``overhead``: regret with certificates and without, 10⁶ users of RandomMDP(10, 3, 5), draws 1 to 24;
each draw is a pair, and the error of the ratio is that of the pairs.
``limit``: with a limit of 5%, the most that users had lost after any plan, and the regret.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from ldprl.catalogue import build
from ldprl.certificates import Scale, Terms
from ldprl.certificates.certified_run import CertifiedRun, certified_run
from ldprl.learning.learner import Learner
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.worth import Worth
from ldprl.shape import FloatArray, Policy
from ldprl.simulation.engine import simulate
from ldprl.worlds.evaluation import optimum, policy_values
from ldprl.worlds.specification import mdp_from
from ldprl.worlds.tabular import TabularMDP

USERS = 10**6
PROBLEMS = (
    ("random:3,2,3,1", "ldp-evi"),
    ("random:5,3,4,2", "ldp-evi"),
    ("random:10,3,5,3", "ldp-evi"),
    ("random:10,3,5,4", "ldp-returns"),
    ("riverswim:4,6", "ldp-evi"),
    ("grid:3,3,6", "ldp-evi"),
)


def mean(values: Sequence[float] | FloatArray) -> str:
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
    run: int = 0,
) -> list[tuple[int, float, CertifiedRun]]:
    """Return users and regret after each plan of one run at ε = 2, and its state at the end."""
    learner, mechanism = pair_of(name, world)
    keep = float(mechanism.oracle(Worth()).keep)  # type: ignore[attr-defined]
    terms = Terms(0.1, 0.95, Scale(keep, world.horizon), incumbent, most_lost)
    states = certified_run(world, learner, mechanism, terms, USERS, seed, run, "growth:0.1")
    return [(state.users, state.recorder.total, state) for state in states]


def pair_of(name: str, world: TabularMDP) -> tuple[Learner, Mechanism]:
    """Return a learner and its mechanism at ε = 2."""
    mechanism = "return-bits" if name == "ldp-returns" else "subset-selection"
    return build(name, mechanism, world.shape, episodes=USERS, epsilon=2.0)


def regrets(draw: int, runs: int) -> list[tuple[float, float, float]]:
    """Return regrets on a draw of RandomMDP(10, 3, 5): plain, certified, and with an incumbent.

    Of the learner that is recommended at this size. The incumbent is a poor policy, action 0
    everywhere. All three of a run share their seed.
    """
    world, name = mdp_from(f"random:10,3,5,{draw}"), "ldp-returns"
    plain = simulate(world, *pair_of(name, world), USERS, runs, 0, "growth:0.1").regret
    found = []
    for run in range(runs):
        alone, beside = (
            runs_of(world, name, incumbent, None, 0, run)[-1][1]
            for incumbent in (None, np.zeros((5, 10), dtype=np.int64))
        )
        found.append((float(plain[run]), alone, beside))
    return found


def ratio(ours: FloatArray, theirs: FloatArray) -> tuple[float, float]:
    """Return the ratio of two means and its standard error, from draws that both have seen."""
    found = float(ours.mean() / theirs.mean())
    errors = (ours - found * theirs) / theirs.mean()
    return found, float(errors.std(ddof=1) / np.sqrt(len(errors)))


def overhead(runs: int) -> None:
    """Compare the regret of the same draws with and without certificates."""
    rows = []
    for draw in range(1, 25):
        rows.append(np.mean(regrets(draw, runs), axis=0))
        print(f"draw {draw} of 24: {rows[-1].round()}", file=sys.stderr, flush=True)
    plain, alone, beside = np.array(rows).T
    print(
        f"without certificates {mean(plain)}, median {np.median(plain):,.0f};"
        f" with them {mean(alone)}, median {np.median(alone):,.0f}, ratio {_ratio(alone, plain)};"
        f" with an incumbent {mean(beside)}, median {np.median(beside):,.0f},"
        f" ratio {_ratio(beside, plain)}"
    )


def _ratio(ours: FloatArray, theirs: FloatArray) -> str:
    return "{:.2f} ± {:.2f}".format(*ratio(ours, theirs))


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
                f" {max(*worst, 0):.1%} after any plan, regret {mean(regrets)}",
                flush=True,
            )


if __name__ == "__main__":
    {"overhead": overhead, "limit": limit}[sys.argv[1]](
        int(sys.argv[2]) if len(sys.argv) > 2 else 2
    )
