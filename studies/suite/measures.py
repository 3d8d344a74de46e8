"""The measures of the suite: what the runs of one learner in one world at one ε say together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ldprl.shape import FloatArray
from ldprl.starting_pair import recommended_pair
from studies.suite.cells import ENTRIES, Entry, Run, SuiteCell, cells_of
from studies.suite.results import Line, current
from studies.suite.worlds import QUESTIONS, World

STUCK = 0.5
"""A run is stuck if its policy at the end closes less of the gap."""
RUN = tuple(field.name for field in fields(Run))
_RESAMPLES = 1000
RECOMMENDED = "recommended"


@dataclass(frozen=True)
class Score:
    """What the runs of one learner in one world at one ε came to; users are a median.

    Attributes
    ----------
    expected
        The runs of the whole suite, of which there are ``runs``.
    error
        Standard error of ``mean``, by bootstrap over draws of the world; None for one run.
    stuck
        The share of runs whose policy at the end closes less than half of the gap.
    learnt, users_share
        The share of the gap closed by the policy at the end, and by all users; means.
    half, most
        Users until half of the gap and 90% are closed; None if most runs do not reach it.
    over_bound, over_open
        Mean regret over the least of the instances, and over that of the same learner without
        privacy; None where there is none.
    stale
        Whether the code of the learner has changed since.
    """

    world: str
    learner: str
    recommended: bool
    epsilon: float | None
    users: int
    expected: int
    runs: int
    mean: float
    error: float | None
    median: float
    worst: float
    stuck: float
    learnt: float
    users_share: float
    half: float | None
    most: float | None
    over_bound: float | None
    over_open: float | None
    stale: bool
    commits: tuple[str, ...]
    machines: tuple[str, ...]
    seconds: float


def scores_in(
    world: World,
    lines: dict[str, Line],
    quick: bool = False,
    entries: Sequence[Entry] = ENTRIES,
) -> list[Score]:
    """Return the scores of those who have run in a world."""
    found: list[Score] = []
    opens: dict[str, dict[str, list[float]]] = {}
    groups: dict[tuple[str, float | None], list[SuiteCell]] = {}
    for cell in cells_of(world, quick, entries):
        groups.setdefault((cell.who.name, cell.epsilon), []).append(cell)
    # Without privacy first: the others are compared with it.
    for (entry, epsilon), group in sorted(groups.items(), key=lambda one: one[0][1] is not None):
        ran = [(cell, lines[cell.key]) for cell in group if cell.key in lines]
        if not ran:
            continue
        here = _regrets(ran)
        if epsilon is None:
            opens[entry] = here
        expected = sum(cell.runs for cell in group)
        found.append(_score(world, ran, expected, here, opens.get(entry)))
    order = {entry.name: place for place, entry in enumerate(entries)}
    return sorted(found, key=lambda one: (order[one.learner], one.epsilon or math.inf))


def _regrets(ran: Sequence[tuple[SuiteCell, Line]]) -> dict[str, list[float]]:
    """Return the regrets of the runs by source, which is what a bootstrap draws of."""
    found: dict[str, list[float]] = {}
    for cell, line in ran:
        found.setdefault(cell.source, []).extend(line["runs"]["regret"])
    return found


def _score(
    world: World,
    ran: Sequence[tuple[SuiteCell, Line]],
    expected: int,
    regrets: dict[str, list[float]],
    opens: dict[str, list[float]] | None,
) -> Score:
    first, _ = ran[0]
    runs = {name: [one for _, line in ran for one in line["runs"][name]] for name in RUN}
    regret, shares = np.array(runs["regret"]), np.array(runs["share"])
    mean = float(regret.mean())
    bounds = [line["bound"] or 0.0 for _, line in ran]
    weights = [len(line["runs"]["regret"]) for _, line in ran]
    bound = float(np.average(bounds, weights=weights))
    before = None
    if opens is not None and first.epsilon is not None and set(regrets) <= set(opens):
        before = float(np.mean([np.mean(opens[source]) for source in regrets]))
    return Score(
        world=world.name,
        learner=first.who.name,
        recommended=first.who.learner == recommended_in(world, first.epsilon, first.users),
        epsilon=first.epsilon,
        users=first.users,
        expected=expected,
        runs=len(regret),
        mean=mean,
        error=bootstrap_error(list(regrets.values())),
        median=float(np.median(regret)),
        worst=float(regret.max()),
        stuck=float((shares < STUCK).mean()),
        learnt=float(shares.mean()),
        users_share=float(np.mean(runs["users_share"])),
        half=_middle(runs["half"]),
        most=_middle(runs["most"]),
        over_bound=mean / bound if bound > 0 else None,
        over_open=mean / before if before is not None and before > 0 else None,
        stale=not all(current(cell, line) for cell, line in ran),
        commits=tuple(sorted({line["commit"] for _, line in ran})),
        machines=tuple(sorted({line["machine"] for _, line in ran})),
        seconds=sum(line["seconds"] for _, line in ran),
    )


def bootstrap_error(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the standard error of the mean by bootstrap; None for one run.

    Of several worlds of one kind it is those that are drawn again, each with the mean of its runs.
    """
    values: FloatArray = np.array(
        [np.mean(one) for one in groups] if len(groups) > 1 else groups[0]
    )
    if len(values) < 2:
        return None
    rng = np.random.default_rng(0)
    drawn = values[rng.integers(len(values), size=(_RESAMPLES, len(values)))].mean(axis=1)
    return float(drawn.std())


def _middle(users: list[int | None]) -> float | None:
    middle = float(np.median([math.inf if one is None else one for one in users]))
    return middle if math.isfinite(middle) else None


def recommended_in(world: World, epsilon: float | None, users: int) -> str:
    """Return the learner that is recommended for users in a world; ε is None without privacy."""
    if world.shape is None:
        return "ldp-es"
    level = math.inf if epsilon is None else epsilon
    return recommended_pair(world.shape, level, users=users)[0]


def by_question(
    worlds: Sequence[World], scores: Sequence[Score], epsilon: float | None
) -> dict[str, dict[str, Any]]:
    """Return the share of the gap that users close by learner and question, and in how many worlds.

    It is a mean over worlds, each counted from 0, where users do no better than at random.
    """
    here = [one for one in scores if one.epsilon == epsilon]
    chosen = {entry.name: [one for one in here if one.learner == entry.name] for entry in ENTRIES}
    chosen = {RECOMMENDED: [one for one in here if one.recommended], **chosen}
    found: dict[str, dict[str, Any]] = {}
    for name, mine in chosen.items():
        for question in QUESTIONS:
            asking = {world.name for world in worlds if question in world.questions}
            shares = [max(one.users_share, 0.0) for one in mine if one.world in asking]
            if shares:
                share = round(float(np.mean(shares)), 4)
                found.setdefault(name, {})[question] = {
                    "share": share,
                    "worlds": len(shares),
                    "of": len(asking),
                }
    return found
