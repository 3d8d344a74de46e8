"""The scoreboard: a page, its numbers as JSON and its picture, all made from the results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ldprl.figures.drawing import style
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import listing, number, power
from ldprl.figures.page import markdown
from studies.suite.cells import ENTRIES, cells_of, entries_in, worlds_named
from studies.suite.measures import Score, by_question, scores_in
from studies.suite.pictures import SHOWN, radar, shares_by_world
from studies.suite.results import Line
from studies.suite.worlds import QUESTIONS, REPORTING, VERSION, WORLDS, World

DOCS = Path(__file__).parents[2] / "docs"
PAGE, DATA = "scoreboard.md", "scoreboard.json"
PICTURE, WORLDS_PICTURE = "images/scoreboard.svg", "images/scoreboard-worlds.svg"
_LEAD = """# Scoreboard

<!-- Made by `python -m studies.suite`: do not edit. -->

Version {version} of the suite: {worlds} worlds, ε = 0.5, 1, 2, 4 and no privacy (*open*), every
learner where a run of it takes seconds. {done:,} of {cells:,} cells have run{left}.
[How to compare with ldprl](how-to/compare.md) says how to read, repeat and cite it;
[scoreboard.json](scoreboard.json) has every number.

- *Mean* is the arithmetic mean of the regret of a run, all users together, ± its standard error by
  bootstrap, over the draws where a world is drawn. Median and worst run stand beside it.
- *Stuck*: the share of runs whose policy at the end closes less than half of the gap between acting
  at random and the best policy. *Learnt*: the share that it closes, on average.
- *Users to 50%, 90%*: from there on users lose at most half, a tenth of the gap. A lucky first
  guess that is left again does not count. Where states are features: in two looks in a row at the
  policy. It is the median of the runs.
- *Over the bound*: mean regret over [the least of the instance](limits/lower.md), which is
  asymptotic and for consistent learners: a ratio below 1 is possible. *Over open*: over the mean
  regret of the same learner without privacy.
- A † says that code of the learner, of its mechanism or of what they import has changed since the
  run. What has not run is named.
- Who plays: {players}. With more states a run takes too long, with fewer LDP-WAYS has nowhere
  far to go; above 128 states LDP-RETURNS is LDP-WAYS.
- Seeds of runs and drawn worlds are from {first:,} on. Nothing was chosen by them.
"""
HEADS = (
    "learner",
    "ε",
    "runs",
    "mean",
    "median",
    "worst",
    "stuck",
    "learnt",
    "users to 50%",
    "to 90%",
    "over the bound",
    "over open",
)


def write(lines: dict[str, Line], folder: Path = DOCS, quick: bool = False) -> None:
    """Write page, JSON and picture."""
    made = texts(lines, quick)
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    document = json.loads(made[DATA])
    with style():
        pictures = {
            PICTURE: radar(document["scores"]),
            WORLDS_PICTURE: shares_by_world(document["scores"]),
        }
        for name, picture in pictures.items():
            picture.savefig(folder / name, metadata={"Date": None}, bbox_inches="tight")


def texts(lines: dict[str, Line], quick: bool = False) -> dict[str, str]:
    """Return page and JSON by name; they depend on the results and on the code of the learners."""
    worlds = worlds_named(None, quick)
    scores = [score for world in worlds for score in scores_in(world, lines, quick)]
    cells = [cell.key for world in worlds for cell in cells_of(world, quick)]
    done = sum(key in lines for key in cells)
    left = "; the same command runs the others" if done < len(cells) else ""
    parts = [
        _LEAD.format(
            version=VERSION,
            worlds=len(worlds),
            done=done,
            cells=len(cells),
            left=left,
            first=REPORTING[0],
            players=_players(),
        ),
        _questions(scores),
        *(_section(world, scores) for world in worlds),
    ]
    document = {
        "suite": VERSION,
        "cells": len(cells),
        "finished": done,
        "questions": {"epsilon": SHOWN, "shares": by_question(worlds, scores, SHOWN)},
        "scores": [_rounded(asdict(score)) for score in scores],
    }
    dumped = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    return {PAGE: "\n".join(parts), DATA: f"{dumped}\n"}


def _players() -> str:
    """Say who plays in tables of how many states."""
    groups: dict[str, list[str]] = {}
    for entry in ENTRIES:
        least = f"from {entry.least} to" if entry.least > 1 else "up to"
        known = f"in tables of {least} {entry.states:,} states" if entry.states else "on features"
        groups.setdefault(known, []).append(entry.name)
    return "; ".join(f"{listing(names)} {where}" for where, names in groups.items())


def _rounded(score: dict[str, Any]) -> dict[str, Any]:
    """Return numbers with six digits: the others differ between processors."""
    return {
        name: float(f"{value:.6g}") if isinstance(value, float) else value
        for name, value in score.items()
    }


def _questions(scores: list[Score]) -> str:
    found = by_question(WORLDS, scores, SHOWN)
    rows = [
        (name, *(_share(shares.get(question)) for question in QUESTIONS))
        for name, shares in found.items()
    ]
    grid = markdown([Grid("", ("learner", *QUESTIONS), rows, folded=False)])
    return (
        f"## By question, at ε = {SHOWN:g}\n\n"
        "The share of the gap that all users close on average: 1 is the best policy for everybody,"
        " 0 acting at random. In brackets: in how many worlds of how many. Learners that have run"
        " in different worlds do not compare.\n\n"
        "![Share of the gap that users close, by question, for the recommended learner, LDP-OBI"
        f" and ε-greedy]({PICTURE})\n\n"
        "The picture has the worlds in which all of them have run that play at all.\n\n"
        "![The same share world by world: the recommended learner at four ε, LDP-OBI and ε-greedy"
        f" at {SHOWN:g}]({WORLDS_PICTURE})\n\n"
        f"{grid}\n{_origin('', scores)}\n"
    )


def _share(found: dict[str, Any] | None) -> str:
    return "–" if found is None else f"{found['share']:.2f} ({found['worlds']} of {found['of']})"


def _section(world: World, scores: list[Score]) -> str:
    mine = [score for score in scores if score.world == world.name]
    users = mine[0].users if mine else world.users
    title = f"## {world.title}\n\n{power(users)} users; {', '.join(world.questions)}.\n"
    ran = {(score.learner, score.epsilon) for score in mine}
    left: dict[str, list[str]] = {}
    for entry, epsilon in entries_in(world):
        if (entry.name, epsilon) not in ran:
            left.setdefault(entry.name, []).append(_level(epsilon))
    missing = "; ".join(f"{name} at {', '.join(levels)}" for name, levels in left.items())
    if not mine:
        return f"{title}\nNothing has run yet: `python -m studies.suite --only {world.name}`.\n"
    grid = markdown([Grid("", HEADS, [row(score) for score in mine], folded=False)])
    said = f"\nNot run yet, by ε: {missing}.\n" if missing else ""
    return f"{title}\n{grid}\n{_origin(f' --only {world.name}', mine)}\n{said}"


def _level(epsilon: float | None) -> str:
    return "open" if epsilon is None else f"{epsilon:g}"


def row(score: Score) -> tuple[str, ...]:
    """Return the line of a score."""
    whole = score.runs == score.expected
    name = f"**{score.learner}**" if score.recommended else score.learner
    return (
        name + " †" * score.stale,
        _level(score.epsilon),
        str(score.runs) if whole else f"{score.runs} of {score.expected}",
        number(score.mean) + ("" if score.error is None else f" ± {number(score.error)}"),
        number(score.median),
        number(score.worst),
        f"{score.stuck:.0%}",
        f"{score.learnt:.0%}",
        _users(score.half),
        _users(score.most),
        _ratio(score.over_bound),
        _ratio(score.over_open),
    )


def _users(count: float | None) -> str:
    return "not reached" if count is None else f"{round(count):,}"


def _ratio(value: float | None) -> str:
    return "–" if value is None else number(value)


def _origin(options: str, scores: Sequence[Score]) -> str:
    """Say which command makes a table, and which code on which machine made this one."""
    commits = ", ".join(sorted({commit for score in scores for commit in score.commits}))
    machines = "; ".join(sorted({machine for score in scores for machine in score.machines}))
    if not scores:
        return f"`python -m studies.suite{options}`; nothing has run yet."
    return (
        f"`python -m studies.suite{options}`; commit {commits}; {machines}. In bold: recommended."
    )
