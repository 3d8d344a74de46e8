"""``python -m studies.which_learner``: compare the two learners of which one is recommended.

LDP-TS learns a model, LDP-RETURNS the effects of actions on returns. Both learn in the same drawn
problems, ``--draws`` of each size; named worlds are run as often. One row for each problem, ε and
number of users.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Annotated

import numpy as np
import typer

from ldprl.catalogue import LEARNERS, build, recommended_learner
from ldprl.figures.cells import LEAST_GAP, gap
from ldprl.figures.numerals import power
from ldprl.shape import FloatArray
from ldprl.simulation.engine import simulate
from ldprl.worlds.specification import mdp_from
from ldprl.worlds.tabular import TabularMDP

LEARNT_WITH = ("ldp-ts", "ldp-returns")
REPLAN = "growth:0.05"
SIZES = (
    "3,2,3", "4,2,4", "4,3,10", "5,3,5", "6,2,20", "6,3,1", "6,3,3", "8,3,5", "10,3,5", "10,5,1",
    "16,3,5",
)  # fmt: skip
PROBLEMS = (*(f"random:{sizes}" for sizes in SIZES), "riverswim:4,10", "riverswim:6,20")

COLUMNS = (
    "problem", "ε", "v·S³AH", "users N", "v·S³AH/√N", "LDP-TS", "LDP-RETURNS", "ratio",
    "recommended",
)  # fmt: skip


def worlds(problem: str, first: int, number: int) -> Iterator[TabularMDP]:
    """Yield the first draws with something to learn, or the same world again and again."""
    if not problem.startswith("random:"):
        return iter([mdp_from(problem)] * number)
    drawn = (mdp_from(f"{problem},{seed}") for seed in count(first))
    return islice((mdp for mdp in drawn if gap(mdp) > LEAST_GAP), number)


def regrets(
    learner: str, problem: str, epsilon: float, users: Sequence[int], first: int, draws: int
) -> FloatArray:
    """Return the regret in thousands of one run in each draw, of shape (draws, users).

    Neither learner knows how many users there will be, so one run has all their numbers.
    """
    found = []
    for place, mdp in enumerate(worlds(problem, first, draws)):
        mechanism = LEARNERS.find(learner).usual_mechanism
        agent, channel = build(learner, mechanism, mdp.shape, episodes=users[-1], epsilon=epsilon)
        run = simulate(mdp, agent, channel, users[-1], seed=first + place, replan=REPLAN)
        found.append(np.interp(users, run.checkpoints, run.curves[0]) / 1000)
    return np.array(found)


def rows(
    problem: str, epsilon: float, users: Sequence[int], first: int, draws: int
) -> Iterator[str]:
    """Yield a row for each number of users: means ± standard errors, worst runs and the ratio."""
    shape = next(worlds(problem, first, 1)).shape
    size = shape.states**3 * shape.actions * shape.horizon / math.sinh(epsilon / 2) ** 2
    both = [regrets(one, problem, epsilon, users, first, draws) for one in LEARNT_WITH]
    for number, models, returns in zip(users, both[0].T, both[1].T, strict=True):
        cells = [power(number), f"{size / math.sqrt(number):.2g}"]
        for losses in (models, returns):
            cells.append(f"{losses.mean():,.1f} ± {error_of(losses):,.1f}, {losses.max():,.1f}")
        ratio = models.mean() / returns.mean()
        cells.append(f"{ratio:.2f} ± {error_of(models - ratio * returns) / returns.mean():.2f}")
        cells.append(recommended_learner(shape, epsilon, number))
        yield f"| {problem} | {epsilon:g} | {size:,.0f} | {' | '.join(cells)} |"


def error_of(losses: FloatArray) -> float:
    """Return the standard error of a mean."""
    return float(losses.std(ddof=1) / math.sqrt(len(losses)))


def main(
    problems: Annotated[list[str] | None, typer.Argument()] = None,
    epsilons: str = "0.5,1,2,4",
    users: str = "1e5,1e6,1e7",
    first: int = 1000,
    draws: int = 20,
) -> None:
    """Print the table; draws and runs have seeds from FIRST on."""
    numbers = sorted(int(float(number)) for number in users.split(","))
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for problem in problems or PROBLEMS:
        for epsilon in map(float, epsilons.split(",")):
            for row in rows(problem, epsilon, numbers, first, draws):
                print(row, flush=True)


if __name__ == "__main__":
    typer.run(main)
