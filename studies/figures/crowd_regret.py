"""Regret against central ε: reports that go to the service, and reports that a relay mixes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.advice.relayed import local_epsilon
from ldprl.bisection import bisect
from ldprl.bounds import changed_bits, shuffle_regret_rate, shuffle_user_guarantee
from ldprl.errors import InputError
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner, NamedMDP, cell_of
from ldprl.figures.curves import Record, curves_of, where
from ldprl.figures.drawing import INK, QUIET, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import number, power
from ldprl.figures.settings import Settings
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.shape import Shape
from ldprl.simulation.regret import standard_error
from ldprl.worlds import random_mdp

EPSILONS = (0.5, 1.0, 2.0)
DELTA = 1e-8
"""δ in the crowd; local reports have none."""
SIZES = ((2, 2, 2), (10, 3, 5), (25, 4, 10))
DRAWS = 5
"""Draws 0 to 4 of RandomMDP for each size: no choice was made on these."""
PAIRS = (("ldp-evi", "subset-selection"), ("ldp-returns", "return-bits"))
"""Both kinds of question: about a model, and about the return."""
_SHARE = {"subset-selection": 1000, "return-bits": 4000}
"""A crowd is 1/1000 of the users with questions about a model, 1/4000 with bits of the return, and
at least 1,000. At 10⁷ users, on RandomMDP(25, 4, 10), draws 1001 and 1002, 10,000 was best of 2,500
to 100,000 with ldp-ts, and 2,500 of 1,000 to 20,000 with ldp-returns."""
_LEAST = 1000
_GROWTH = "growth:0.05"
_local_epsilon = lru_cache(maxsize=64)(local_epsilon)


@dataclass(frozen=True)
class Reporting:
    """How users report: at which local ε, and in a crowd of how many (0 without a relay)."""

    local: float
    crowd: int

    @property
    def replan(self) -> str:
        """When a new plan is made."""
        return f"{_GROWTH},crowd:{self.crowd}" if self.crowd else _GROWTH


def ways(
    shape: Shape, mechanism: str, epsilon: float, episodes: int
) -> tuple[Reporting, Reporting]:
    """Return what gives central ε without a relay, and what gives it with one."""
    crowd = max(episodes // _SHARE[mechanism], _LEAST)
    local = _local_epsilon(mechanism, shape, crowd, epsilon, DELTA)
    return Reporting(epsilon, 0), Reporting(local, crowd)


def cells(settings: Settings) -> list[Cell]:
    """Return a cell for each size, draw, pair, ε and way."""
    return [cell for size in SIZES for *_, group in _groups(settings, size) for cell in group]


def _groups(
    settings: Settings, size: tuple[int, int, int]
) -> Iterator[tuple[str, str, float, Reporting, list[Cell]]]:
    """Yield learner, mechanism, central ε, way, and the cells of all draws."""
    worlds = [_world(size, draw) for draw in range(DRAWS)]
    shape = worlds[0].mdp.shape
    for learner, mechanism in PAIRS:
        for epsilon in EPSILONS:
            for way in ways(shape, mechanism, epsilon, settings.episodes):
                group = [
                    replace(
                        cell_of(settings, world, learner, "sound", mechanism, way.local),
                        replan=way.replan,
                    )
                    for world in worlds
                ]
                yield learner, mechanism, epsilon, way, group


@lru_cache(maxsize=32)
def _world(size: tuple[int, int, int], draw: int) -> NamedMDP:
    states, actions, horizon = size
    name = f"random:{states},{actions},{horizon},{draw}"
    return NamedMDP(name, random_mdp(states, actions, horizon, draw))


def make_table(runner: CellRunner) -> pa.Table:
    """Return a row for each size, pair, ε and way: regret over draws, and the paper's bound."""
    rows = []
    episodes = runner.settings.episodes
    for size in SIZES:
        for learner, mechanism, epsilon, way, group in _groups(runner.settings, size):
            # The mean of a draw's runs is one observation: draws differ more than runs.
            finals = np.array([curve.final for curve in curves_of(runner.table(group))])
            rows.append(
                {
                    "size": "×".join(map(str, size)),
                    "learner": learner,
                    "mechanism": mechanism,
                    "central_epsilon": epsilon,
                    "local_epsilon": way.local,
                    "crowd": way.crowd,
                    "episodes": episodes,
                    "draws": len(finals),
                    "mean": float(finals.mean()),
                    "error": float(standard_error(finals)),
                    "worst": float(finals.max()),
                    "paper": paper_bound(Shape(*size), episodes, epsilon),
                }
            )
    return pa.Table.from_pylist(rows)


def paper_bound(shape: Shape, episodes: int, epsilon: float) -> float | None:
    """Return the order of LDP-OBI's regret with M_sh where a user's sums have central (ε, δ).

    The coin p is the least for which the appendix' lemma, with all K users in one crowd, gives the
    user (ε, δ): δ₀ = δ/(bits·e^ε) makes the total δ. None if no coin does.
    """
    bits = changed_bits(shape.horizon)
    each = DELTA / (bits * math.exp(epsilon))

    def enough(coin: float) -> bool:
        try:
            found = shuffle_user_guarantee(episodes + 1, shape.horizon, coin, each)
        except InputError:
            return False
        return found.epsilon <= epsilon

    most = 1 - 1e-9
    if not enough(most):
        return None
    coin = bisect(enough, 0.0, most, halvings=60)[1]
    local = bits * math.log(2 / coin - 1)
    return shuffle_regret_rate(shape.states, shape.actions, shape.horizon, episodes, local)


def findings(table: pa.Table) -> Findings:
    """Return the report's sentences and the whole table."""
    rows = table.to_pylist()
    grid = Grid(
        f"Total regret at K = {power(rows[0]['episodes'])}, mean ± standard error over draws",
        ("size", "learner", "central ε", "crowd", "ε of a report", "regret", "worst"),
        [
            (
                row["size"],
                row["learner"],
                f"{row['central_epsilon']:g}",
                f"{row['crowd']:,}" if row["crowd"] else "none",
                f"{row['local_epsilon']:g}",
                f"{number(row['mean'])} ± {number(row['error'])}",
                number(row["worst"]),
            )
            for row in rows
        ],
        folded=False,
    )
    return Findings([saved(rows, size) for size in dict.fromkeys(r["size"] for r in rows)], [grid])


def saved(rows: list[Record], size: str) -> str:
    """Say how much less regret the best pair has with a relay, at the middle ε."""
    epsilon = EPSILONS[len(EPSILONS) // 2]
    here = where(rows, size=size, central_epsilon=epsilon)
    best = {
        mixed: min((row for row in here if bool(row["crowd"]) == mixed), key=lambda r: r["mean"])
        for mixed in (False, True)
    }
    alone, mixed = best[False], best[True]
    ratio = alone["mean"] / mixed["mean"]
    change = f"{number(ratio)} times less" if ratio > 1 else f"{number(1 / ratio)} times more"
    return (
        f"{size} at central ε = {epsilon:g}: {number(mixed['mean'])} with a relay"
        f" ({mixed['learner']}, {mixed['crowd']:,} reports at ε₀ = {mixed['local_epsilon']:g}),"
        f" {number(alone['mean'])} without ({alone['learner']}): {change}."
    )


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each size: regret by central ε, full lines with a relay."""
    rows = table.to_pylist()
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    picture, ((*axes,),) = panels(1, len(sizes), height=4.4, sharey=False)
    for panel, size in zip(axes, sizes, strict=True):
        panel.set_title(size)
        log_axis(panel, "y")
        panel.set_xscale("log", base=2)
        panel.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        panel.set_xlabel("central ε")
        for learner, mechanism in PAIRS:
            for mixed in (True, False):
                here = [
                    row
                    for row in where(rows, size=size, learner=learner)
                    if bool(row["crowd"]) == mixed
                ]
                panel.errorbar(
                    [row["central_epsilon"] for row in here],
                    [row["mean"] for row in here],
                    [row["error"] for row in here],
                    color=MECHANISMS[mechanism].colour,
                    linestyle="-" if mixed else ":",
                    marker="o" if mixed else "s",
                    label=f"{learner}, {'in a crowd' if mixed else 'local'}",
                )
        bound = [row for row in where(rows, size=size, learner=PAIRS[0][0]) if row["crowd"]]
        known = [row for row in bound if row["paper"] is not None]
        if known:
            panel.plot(
                [row["central_epsilon"] for row in known],
                [row["paper"] for row in known],
                color=INK,
                linestyle=(0, (4, 2)),
                label="the paper's shuffle bound (its order)",
            )
        most = float(size.rpartition("×")[2]) * rows[0]["episodes"]
        panel.axhline(most, color=QUIET, linewidth=1)
    axes[0].set_ylabel(f"total regret, {power(rows[0]['episodes'])} users")
    # Between what is reached and the bound there is room where there are many states.
    axes[-1].legend(fontsize=8, loc=(0.22, 0.5))
    headline(picture, "What a crowd saves (grey: the most that can be lost)")
    return {"": picture}


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "Users promise the same central ε in two ways: by reports that go to the service, and by"
        " reports that a relay mixes, which may then be less noisy; with"
        f" {power(settings.episodes)} users in each run, {settings.runs} runs and {DRAWS} draws of"
        " each size."
    )


FIGURE = Figure(
    title="What a crowd saves",
    place="beyond the paper; its bound is in Appendix I",
    question="How much less regret has a relay, at the same central ε?",
    cells=cells,
    table=make_table,
    plot=plot,
    findings=findings,
    lead=lead,
    runs=1,
)
