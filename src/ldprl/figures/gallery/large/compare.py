"""Regret and the share learnt of everybody on every problem: table, sentences and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.experiments.cells import Cell
from ldprl.figures.curves import Row, where
from ldprl.figures.drawing import FAINT, QUIET, Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.laboratory import Laboratory
from ldprl.figures.names import LEARNERS
from ldprl.figures.sentences import number, percent, power
from ldprl.figures.settings import Settings
from ldprl.shape import FloatArray, IntArray

STUCK = 0.5
"""A run is stuck if its policy at the end closes less of the gap than this."""


Chosen = list[tuple[str, Cell]]
"""Cells, each with the title of its problem."""


def figure_of(title: str, question: str, chosen: Callable[[Settings], Chosen]) -> Figure:
    """Return the figure that compares learners on the problems chosen."""
    return Figure(
        title=title,
        place="Not in the paper",
        question=question,
        cells=lambda settings: [cell for _, cell in chosen(settings)],
        table=lambda laboratory: table_of(laboratory, chosen(laboratory.settings)),
        plot=pictures,
        findings=findings,
    )


def table_of(laboratory: Laboratory, chosen: Chosen) -> pa.Table:
    """Return a row for each cell; curves are means over its runs."""
    rows = []
    for title, cell in chosen:
        found, shape = laboratory.about(cell)["learnt"], cell.mdp.shape
        regret = laboratory.table([cell])["regret"].to_numpy().reshape(cell.runs, -1)
        users = laboratory.table([cell])["episodes"].to_numpy()[: regret.shape[1]]
        gap = found["best_value"] - found["random_value"]
        rows.append(
            {
                "problem": title,
                "sizes": f"{shape.states}×{shape.actions}×{shape.horizon}",
                "learner": cell.learner,
                "private": cell.epsilon is not None,
                "users": users.tolist(),
                "regret": regret.mean(axis=0).tolist(),
                "regret_error": _error(regret).tolist(),
                "gained": (1 - _late_loss(users, regret) / gap).mean(axis=0).tolist(),
                "last": regret[:, -1].tolist(),
                "learned": found["learned"],
                "users_needed": found["users_needed"],
            }
        )
    return pa.Table.from_pylist(rows)


def _late_loss(users: IntArray, regret: FloatArray) -> FloatArray:
    """Return what the later half of the users so far lost on average, at every checkpoint."""
    points = np.concatenate([[0], users])
    half = [np.interp(users / 2, points, np.concatenate([[0.0], run])) for run in regret]
    loss: FloatArray = (regret - np.array(half)) / (users / 2)
    return loss


def _error(runs: FloatArray) -> FloatArray:
    """Return the standard error of the mean over runs; 0 of a single run."""
    error: FloatArray = runs.std(axis=0, ddof=min(1, len(runs) - 1)) / math.sqrt(len(runs))
    return error


def findings(table: pa.Table) -> Findings:
    """Return a sentence for each problem, and the whole table."""
    rows = table.to_pylist()
    sentences = [_sentence(where(rows, problem=title)) for title in _titles(rows)]
    heads = ("problem", "S×A×H", "learner", "users", "runs", "regret", "worst", "learnt", "stuck")
    grid = Grid("Regret and the share learnt", heads, [_line(row) for row in rows], folded=False)
    return Findings(sentences, [grid])


def _titles(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["problem"] for row in rows))


def _name(row: Row) -> str:
    return LEARNERS[row["learner"]][0] + ("" if row["private"] else ", no privacy")


def _sentence(rows: list[Row]) -> str:
    """Say what the recommended learner, which comes first, has reached, beside the others."""
    first, *others = rows
    users = power(first["users"][-1])
    closed = f"closes {percent(float(np.mean(first['learned'])))} of the gap with {users} users"
    if np.mean(first["learned"]) <= 0 and first["users_needed"]:
        closed += f"; about {number(first['users_needed'])} are needed"
    beside = ", ".join(f"{_name(row)} {percent(float(np.mean(row['learned'])))}" for row in others)
    return f"{first['problem']}: {_name(first)} {closed}" + (f" ({beside})." if beside else ".")


def _line(row: Row) -> tuple[str, ...]:
    learned, last = np.array(row["learned"]), np.array(row["last"])
    error = row["regret_error"][-1]
    return (
        row["problem"],
        row["sizes"],
        _name(row),
        power(row["users"][-1]),
        str(len(last)),
        number(last.mean()) + (f" ± {number(error)}" if len(last) > 1 else ""),
        number(last.max()),
        f"{percent(learned.mean())}, worst {percent(learned.min())}",
        percent(float((learned < STUCK).mean())),
    )


def pictures(table: pa.Table) -> dict[str, Picture]:
    """Return the share learnt and the regret, a panel for each problem."""
    rows = table.to_pylist()
    return {"": _picture(rows, gained=True), "regret": _picture(rows, gained=False)}


def _picture(rows: list[Row], *, gained: bool) -> Picture:
    titles = _titles(rows)
    columns = 3 if len(titles) <= 6 else 4
    lines = math.ceil(len(titles) / columns)
    picture, axes = panels(lines, columns, width=4.1, height=2.9, sharey=False)
    places = [panel for row in axes for panel in row]
    for panel in places[len(titles) :]:
        panel.set_visible(False)
    for panel, title in zip(places, titles, strict=False):
        here = where(rows, problem=title)
        ends = [_curve(panel, row, gained=gained) for row in here]
        log_axis(panel, "x", every=2)
        if gained:
            panel.set_ylim(-0.1, 1.05)
            panel.axhline(0, color=FAINT, linewidth=1)
        else:
            log_axis(panel, "y", every=2)
        end_labels(panel, ends, size=8)
        panel.set_title(f"{title} ({here[0]['sizes']})" if title[:6] != "Random" else title)
    for panel in places[max(0, len(titles) - columns) : len(titles)]:
        panel.set_xlabel("users")
    for row in axes:
        row[0].set_ylabel("gained by the later half" if gained else "regret so far")
    what = "What users gain, from acting at random (0) to the best policy (1)"
    headline(picture, f"{what if gained else 'Regret'}; ε = 2, dashed: no privacy")
    return picture


def _curve(panel: Axes, row: Row, *, gained: bool) -> Label:
    users, values = np.array(row["users"]), np.array(row["gained" if gained else "regret"])
    shown = users >= min(100, users[-1] // 2)
    title, colour = LEARNERS[row["learner"]]
    colour = colour if row["private"] else QUIET
    panel.margins(x=0)
    panel.plot(
        users[shown], values[shown], color=colour, linestyle="-" if row["private"] else (0, (4, 2))
    )
    end = float(np.clip(values[-1], -0.1, 1.05)) if gained else float(values[-1])
    return Label(end, title if row["private"] else "no privacy", colour)
