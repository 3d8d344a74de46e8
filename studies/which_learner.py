"""``python -m studies.which_learner``: compare the two learners of which one is recommended.

LDP-TS learns a model, LDP-RETURNS the effects of actions on returns. Both learn in the same drawn
problems, ``--draws`` of each size; named worlds are run as often. One row for each problem and ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count, islice
from typing import Annotated

import numpy as np
import typer

from ldprl.catalogue import LEARNERS, build, recommended_learner
from ldprl.figures.cells import LEAST_GAP, gap
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


def worlds(problem: str, first: int, number: int) -> Iterator[TabularMDP]:
    """Yield the first draws with something to learn, or the same world again and again."""
    if not problem.startswith("random:"):
        return iter([mdp_from(problem)] * number)
    drawn = (mdp_from(f"{problem},{seed}") for seed in count(first))
    return islice((mdp for mdp in drawn if gap(mdp) > LEAST_GAP), number)


def regrets(
    learner: str, problem: str, epsilon: float, users: int, first: int, draws: int
) -> FloatArray:
    """Return the regret of one run in each draw."""
    found = []
    for place, mdp in enumerate(worlds(problem, first, draws)):
        mechanism = LEARNERS.find(learner).usual_mechanism
        agent, channel = build(learner, mechanism, mdp.shape, episodes=users, epsilon=epsilon)
        run = simulate(mdp, agent, channel, users, seed=first + place, replan=REPLAN)
        found.append(run.regret[0])
    return np.array(found)


def row(problem: str, epsilon: float, users: int, first: int, draws: int) -> str:
    """Return a row of the table: means ± standard errors and worst runs, in thousands."""
    shape = next(worlds(problem, first, 1)).shape
    size = shape.states**3 * shape.actions * shape.horizon / math.sinh(epsilon / 2) ** 2
    cells = []
    for learner in LEARNT_WITH:
        losses = regrets(learner, problem, epsilon, users, first, draws) / 1000
        error = losses.std(ddof=1) / math.sqrt(draws)
        cells.append(f"{losses.mean():,.1f} ± {error:,.1f}, {losses.max():,.1f}")
    chosen = recommended_learner(shape, epsilon)
    return f"| {problem} | {epsilon:g} | {size:,.0f} | {' | '.join(cells)} | {chosen} |"


def main(
    problems: Annotated[list[str] | None, typer.Argument()] = None,
    epsilons: str = "0.5,1,2,4",
    users: float = 1e6,
    first: int = 1000,
    draws: int = 20,
) -> None:
    """Print the table; draws and runs have seeds from FIRST on."""
    print("| problem | ε | v·S³AH | LDP-TS | LDP-RETURNS | recommended |")
    print("|---|---|---|---|---|---|")
    for problem in problems or PROBLEMS:
        for epsilon in map(float, epsilons.split(",")):
            print(row(problem, epsilon, int(users), first, draws), flush=True)


if __name__ == "__main__":
    typer.run(main)
