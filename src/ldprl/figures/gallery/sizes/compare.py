"""Regret and the share learnt of everybody on every problem: table, sentences and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.catalogue import LEARNERS
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner, NamedMDP, cell_of
from ldprl.figures.curves import Record, where
from ldprl.figures.drawing import FAINT, QUIET, Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import listing, number, percent, power
from ldprl.figures.settings import Settings
from ldprl.simulation.regret import late_loss, standard_error

EPSILON = 2.0
"""At this ε all learners are compared; the recommended one and LDP-OBI may have others."""
REPLAN = "growth:0.05"
STUCK = 0.5
"""A run is stuck if its policy at the end closes less of the gap than this."""
_HEADS = (
    "problem",
    "S×A×H",
    "ε",
    "learner",
    "users",
    "runs",
    "regret",
    "worst run",
    "LDP-OBI's over it",
    "share learnt",
    "stuck",
)
Chosen = list[tuple[str, Cell]]
"""Cells, each with the title of its problem."""


def figure_of(title: str, question: str, chosen: Callable[[Settings], Chosen]) -> Figure:
    """Return the figure that compares learners on the problems chosen."""
    return Figure(
        title=title,
        place="Not in the paper",
        question=question,
        cells=lambda settings: [cell for _, cell in chosen(settings)],
        table=lambda runner: table_of(runner, chosen(runner.settings)),
        plot=pictures,
        findings=findings,
    )


def private_cell(settings: Settings, at: NamedMDP, learner: str, epsilon: float) -> Cell:
    """Return the simulation of a learner with its usual mechanism."""
    return cell_of(settings, at, learner, "sound", LEARNERS.find(learner).usual_mechanism, epsilon)


def table_of(runner: CellRunner, chosen: Chosen) -> pa.Table:
    """Return a row for each problem, learner and ε; curves are means over worlds and runs."""
    rows = [_row(runner, title, cells) for title, cells in together(chosen)]
    return pa.Table.from_pylist(rows)


def together(chosen: Chosen) -> list[tuple[str, list[Cell]]]:
    """Return the cells of each row, which have problem, learner and ε in common."""
    found: dict[tuple[str, str, float | None], list[Cell]] = {}
    for title, cell in chosen:
        found.setdefault((title, cell.learner, cell.epsilon), []).append(cell)
    return [(title, cells) for (title, _, _), cells in found.items()]


def _row(runner: CellRunner, title: str, cells: list[Cell]) -> Record:
    regrets, gained, learned, needed = [], [], [], []
    for cell in cells:
        table, found = runner.table([cell]), runner.about(cell)["learnt"]
        regret = table["regret"].to_numpy().reshape(cell.runs, -1)
        users = table["episodes"].to_numpy()[: regret.shape[1]]
        gap = found["best_value"] - found["random_value"]
        regrets.append(regret)
        gained.append([1 - late_loss(users, run) / gap for run in regret])
        learned += found["learned"]
        needed.append(found["users_needed"])
    first, all_runs = cells[0], np.concatenate(regrets)
    shape = first.mdp.shape
    return {
        "problem": title,
        "sizes": f"{shape.states}×{shape.actions}×{shape.horizon}",
        "learner": first.learner,
        "epsilon": first.epsilon,
        "worlds": len(cells),
        "users": users.tolist(),
        "regret": all_runs.mean(axis=0).tolist(),
        "regret_error": standard_error(all_runs).tolist(),
        "gained": np.concatenate(gained).mean(axis=0).tolist(),
        "last": all_runs[:, -1].tolist(),
        "learned": learned,
        "users_needed": max((one for one in needed if one), default=None),
    }


def findings(table: pa.Table) -> Findings:
    """Return a sentence for each problem, and what was reached."""
    rows = table.to_pylist()
    sentences = [_sentence(where(rows, problem=title)) for title in _titles(rows)]
    lines = [_line(row, where(rows, problem=row["problem"])) for row in rows]
    return Findings(sentences, [Grid("Regret and the share learnt", _HEADS, lines, folded=False)])


def _titles(rows: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(row["problem"] for row in rows))


def _name(row: Record) -> str:
    return LEARNERS.find(row["learner"]).title + ("" if row["epsilon"] else ", no privacy")


def _ours(rows: list[Record]) -> tuple[list[Record], list[Record]]:
    """Return the recommended learner, which comes first, at every ε, and the others at ε = 2."""
    first = rows[0]["learner"]
    ours = [row for row in rows if row["learner"] == first and row["epsilon"]]
    others = [row for row in rows if row not in ours and row["epsilon"] in (EPSILON, None)]
    return ours, others


def _sentence(rows: list[Record]) -> str:
    """Say what the recommended learner has reached, beside the others."""
    ours, others = _ours(rows)
    reached = listing([f"{_share(row)} at ε = {row['epsilon']:g}" for row in ours])
    users = power(ours[0]["users"][-1])
    closed = f"{_name(ours[0])} closes {reached} of the gap with {users} users"
    needed = ours[0]["users_needed"]
    if np.mean(ours[0]["learned"]) <= 0 and needed:
        closed += f"; about {number(needed)} are needed"
    beside = listing([f"{_name(row)} {_share(row)}" for row in others])
    found = f"{rows[0]['problem']}: {closed}"
    return f"{found} (at ε = {EPSILON:g} {beside})." if beside else f"{found}."


def _share(row: Record) -> str:
    return percent(float(np.mean(row["learned"])))


def _line(row: Record, rows: list[Record]) -> tuple[str, ...]:
    learned, last = np.array(row["learned"]), np.array(row["last"])
    error = row["regret_error"][-1]
    paper = where(rows, learner="ldp-obi", epsilon=row["epsilon"])
    over = number(np.mean(paper[0]["last"]) / last.mean()) if paper and last.any() else ""
    return (
        row["problem"],
        row["sizes"],
        f"{row['epsilon']:g}" if row["epsilon"] else "∞",
        _name(row),
        power(row["users"][-1]),
        str(len(last)),
        number(last.mean()) + (f" ± {number(error)}" if len(last) > 1 else ""),
        number(last.max()),
        over,
        f"{percent(learned.mean())}, worst {percent(learned.min())}",
        percent(float((learned < STUCK).mean())),
    )


def pictures(table: pa.Table) -> dict[str, Picture]:
    """Return the share learnt and the regret, a panel for each problem."""
    rows = table.to_pylist()
    return {"": _picture(rows, gained=True), "regret": _picture(rows, gained=False)}


def _picture(rows: list[Record], *, gained: bool) -> Picture:
    titles = _titles(rows)
    columns = 3 if len(titles) <= 6 else 4
    lines = math.ceil(len(titles) / columns)
    picture, axes = panels(lines, columns, width=4.1, height=2.9, sharey=False)
    places = [panel for row in axes for panel in row]
    for panel in places[len(titles) :]:
        panel.set_visible(False)
    for panel, title in zip(places, titles, strict=False):
        here = where(rows, problem=title)
        ends = [_curve(panel, row, gained=gained) for part in _ours(here) for row in part]
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
    how = f"ε = {EPSILON:g} unless stated, dashed: no privacy"
    headline(picture, f"{what if gained else 'Regret'}; {how}")
    return picture


def _curve(panel: Axes, row: Record, *, gained: bool) -> Label:
    users, values = np.array(row["users"]), np.array(row["gained" if gained else "regret"])
    shown = users >= min(100, users[-1] // 2)
    kind, epsilon = LEARNERS.find(row["learner"]), row["epsilon"]
    title, colour = kind.title, kind.colour
    if epsilon is None:
        title, colour = "no privacy", QUIET
    elif epsilon != EPSILON:
        title = f"ε = {epsilon:g}"
    panel.margins(x=0)
    style = (0, (4, 2)) if epsilon is None else "-" if epsilon == EPSILON else (0, (1, 1))
    panel.plot(users[shown], values[shown], color=colour, linestyle=style)
    end = float(np.clip(values[-1], -0.1, 1.05)) if gained else float(values[-1])
    return Label(end, title, colour)
