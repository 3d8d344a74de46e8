"""How far LDP-EVI is from the limit: regret over the instance's lower bound, and what costs it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.bounds import Instance, instance_lower_bound
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner, NamedMDP, cell_of
from ldprl.figures.curves import Record, curves_of, where
from ldprl.figures.drawing import QUIET, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import number, power
from ldprl.figures.settings import FAILURE_PROBABILITY, Settings
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.simulation.regret import standard_error
from ldprl.worlds import TabularMDP, random_mdp, riverswim
from studies.bounds.oracle import oracle_of
from studies.figures.ablation.variants import VARIANTS, Variant

EPSILONS = (0.5, 1.0, 2.0, 4.0)
UNGUARDED = "ldp-evi, no guard"
"""LDP-EVI without the guard that its regret bound rests on: what does the guard cost?"""
PLAYERS = ("ldp-evi", UNGUARDED)
REPLAN = "growth:0.05"
"""Fewer plans than in the other figures: the larger worlds take long."""
_MARKS = dict(zip(PLAYERS, ("o", "x"), strict=True))


@lru_cache
def worlds() -> tuple[NamedMDP, ...]:
    """Return worlds from a bandit to 25 states, each with a lower bound above 0.

    Of the draws of RandomMDP from seed 1000 on these are the first whose bound exceeds 10·ln K at
    ε = 1.
    """
    return (
        NamedMDP("bandit 0.9, 0.7", _one_step([[0.9, 0.7]])),
        NamedMDP("bandit 0.5, 0.4", _one_step([[0.5, 0.4]])),
        NamedMDP("contexts 2×2", _one_step([[0.9, 0.6], [0.3, 0.5]])),
        NamedMDP("contexts 5×2", _one_step([[0.9 - 0.1 * s, 0.3 + 0.1 * s] for s in range(5)])),
        NamedMDP("random:2,2,2,1000", random_mdp(2, 2, 2, 1000)),
        NamedMDP("random:2,2,2,1006", random_mdp(2, 2, 2, 1006)),
        NamedMDP("random:10,3,5,1000", random_mdp(10, 3, 5, 1000)),
        NamedMDP("riverswim:6,20", riverswim(6, 20)),
        NamedMDP("random:25,4,10,1000", random_mdp(25, 4, 10, 1000)),
    )


def _one_step(means: list[list[float]]) -> TabularMDP:
    rewards = np.array(means)
    states, actions = rewards.shape
    moves = np.full((states, actions, states), 1 / states)
    return TabularMDP(moves, rewards, 1, reward_kind="bernoulli")


def cells(settings: Settings) -> list[Cell]:
    """Return a cell for each world, ε and learner."""
    return [cell for world in worlds() for _, cell in cells_in(settings, world)]


def cells_in(settings: Settings, world: NamedMDP) -> Iterator[tuple[float, Cell]]:
    """Yield the cells of one world with their ε."""
    for epsilon in EPSILONS:
        for learner in PLAYERS:
            variant = learner in VARIANTS
            cell = cell_of(settings, world, learner, "sound", "subset-selection", epsilon)
            cell = replace(cell, replan=REPLAN)
            yield epsilon, Variant(**cell.parameters, mdp=cell.mdp) if variant else cell


def make_table(runner: CellRunner) -> pa.Table:
    """Return a row for each cell: regret, the bound, and the factors between them."""
    rows = []
    episodes = runner.settings.episodes
    for world in worlds():
        for epsilon, cell in cells_in(runner.settings, world):
            (curve,) = curves_of(runner.table([cell]))
            bound, questions, oracle = limits(world, epsilon)
            least = bound * math.log(episodes)
            runs = len(curve.last)
            rows.append(
                {
                    "world": world.name,
                    "learner": curve.learner,
                    "epsilon": epsilon,
                    "episodes": episodes,
                    "runs": runs,
                    "mean": curve.final,
                    "error": float(standard_error(curve.last)) if runs > 1 else None,
                    "worst": float(curve.last.max()),
                    "bound": least,
                    "ratio": curve.final / least,
                    "questions": questions / bound,
                    "widths": oracle / (questions * math.log(episodes)),
                    "exploration": curve.final / oracle,
                }
            )
    return pa.Table.from_pylist(rows)


@lru_cache
def limits(world: NamedMDP, epsilon: float) -> tuple[float, float, float]:
    """Return the constant of the lower bound, that of our questions, and the oracle's regret."""
    instance = _instance(world)
    bound = instance_lower_bound(instance, epsilon)
    mechanism = SubsetSelection(world.mdp.shape, epsilon)
    oracle = oracle_of(instance, bound.binding, mechanism, FAILURE_PROBABILITY)
    return bound.constant, oracle.questions, oracle.regret


@lru_cache
def _instance(world: NamedMDP) -> Instance:
    return Instance(world.mdp)


def findings(table: pa.Table) -> Findings:
    """Return the report's sentences and the whole table."""
    rows = table.to_pylist()
    sentences = [closest_and_farthest(rows), *(what_costs(rows, at) for at in _names(rows))]
    columns = ("worst", "bound", "ratio", "questions", "widths", "exploration")
    grid = Grid(
        f"Regret over the bound at K = {power(rows[0]['episodes'])}",
        ("world", "learner", "ε", "regret", *columns),
        [
            (
                row["world"],
                row["learner"],
                f"{row['epsilon']:g}",
                number(row["mean"]) + (f" ± {number(row['error'])}" if row["error"] else ""),
                *(number(row[name]) for name in columns),
            )
            for row in rows
        ],
        folded=False,
    )
    return Findings(sentences, [grid])


def _names(rows: list[Record]) -> list[str]:
    return list(dict.fromkeys(row["world"] for row in rows))


def closest_and_farthest(rows: list[Record]) -> str:
    """Say between which ratios the learners lie."""
    low, high = min(rows, key=_ratio), max(rows, key=_ratio)
    return (
        f"Mean regret is {number(low['ratio'])} times the lower bound in {low['world']} at"
        f" ε = {low['epsilon']:g} ({low['learner']}) and {number(high['ratio'])} times in"
        f" {high['world']} at ε = {high['epsilon']:g} ({high['learner']}). The bound is asymptotic"
        " and for consistent learners: at a fixed failure probability a ratio below 1 is possible."
    )


def _ratio(row: Record) -> float:
    return float(row["ratio"])


def what_costs(rows: list[Record], world: str) -> str:
    """Say which factor is the largest for the first learner in a world, over all ε."""
    here = where(rows, world=world, learner=PLAYERS[0])
    parts = {
        name: float(np.mean([row[field] for row in here]))
        for name, field in (
            ("the questions", "questions"),
            ("the width of the confidence set", "widths"),
            ("the exploration rule", "exploration"),
        )
    }
    name = max(parts, key=lambda part: parts[part])
    shown = ", ".join(f"{part} × {number(value)}" for part, value in parts.items())
    return f"{world}: {shown} (means over ε); {name} costs most."


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the ratio in each world, a colour for each ε and a mark for each learner."""
    rows = table.to_pylist()
    names = _names(rows)
    picture, ((panel,),) = panels(1, 1, width=11.0, height=5.0)
    log_axis(panel, "y")
    panel.axhline(1.0, color=QUIET, linewidth=1)
    colours = dict(zip(EPSILONS, ("#1a4f8b", "#56b4e9", "#0a8f7a", "#d98200"), strict=True))
    for i, learner in enumerate(PLAYERS):
        for j, epsilon in enumerate(EPSILONS):
            here = where(rows, learner=learner, epsilon=epsilon)
            place = [names.index(row["world"]) + 0.16 * (j - 1.5) + 0.06 * i for row in here]
            panel.plot(
                place,
                [row["ratio"] for row in here],
                _MARKS[learner],
                color=colours[epsilon],
                label=f"{learner}, ε = {epsilon:g}",
            )
    panel.set_xticks(range(len(names)), names, rotation=20, ha="right")
    panel.set_ylabel("mean regret over the lower bound")
    panel.legend(fontsize=8.5, ncols=2)
    headline(picture, "How far LDP-EVI is from the limit")
    return {"": picture}


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "Regret over the lower bound of each instance, from a bandit to 25 states, and which part"
        f" of a learner costs how much of it; with {power(settings.episodes)} users in each run and"
        f" {settings.runs} runs."
    )


FIGURE = Figure(
    title="How far from the limit",
    place="beyond the paper",
    question="How much more than the least possible do our learners pay, and for what?",
    cells=cells,
    table=make_table,
    plot=plot,
    findings=findings,
    lead=lead,
    runs=20,
)
