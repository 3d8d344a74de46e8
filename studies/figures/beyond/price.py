"""What privacy costs: regret over the same learner's without, and users needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.figures.cells import best_value
from ldprl.figures.curves import Curve
from ldprl.figures.drawing import FAINT, INK, QUIET, Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import at_epsilons, listing, number, numbers, percent, power
from ldprl.worlds.specification import mdp_from
from studies.figures.beyond.results import (
    OPEN,
    OPTIMIST,
    PRIVATE,
    REFERENCE,
    SAMPLER,
    WITHOUT_PRIVACY,
    Contender,
    Results,
    Spread,
    ratios,
    spread_of,
)

NEAR = 0.05
"""A policy is near-optimal if it loses at most this share of V*."""
NEAR_OPTIMAL = f"{percent(NEAR)} of V*"


def users_needed(curve: Curve) -> float:
    """Return after how many users the policies in force are near-optimal, and stay so.

    Between two checkpoints the average user loses (R_j − R_i)/(j − i). The answer is the end of
    the last interval in which that is more than 5% of V*; infinite if it is the last of all.
    """
    most = NEAR * best(curve.environment)
    episodes = np.concatenate([[0], curve.episodes])
    losses = np.diff(curve.mean, prepend=0.0) / np.diff(episodes)
    far = np.flatnonzero(losses > most)
    if not len(far):
        return 1.0
    return math.inf if far[-1] == len(losses) - 1 else float(curve.episodes[far[-1]])


@cache
def best(environment: str) -> float:
    """Return V* of the MDP of that name."""
    return best_value(mdp_from(environment))


def prices(results: Results, one: Contender) -> list[Spread]:
    """Return the regret of ``one`` over that of the same learner without privacy, at each ε."""
    free = WITHOUT_PRIVACY[one]
    return [
        spread_of(ratios(results.of(one, e), results.of(free, e), results.episodes))
        for e in results.epsilons
    ]


def price(results: Results) -> str:
    """Say what privacy costs."""
    clauses = []
    for one in (REFERENCE, OPTIMIST, SAMPLER):
        clauses.append(f"{numbers(price.mean for price in prices(results, one))} for {one.name}")
    return (
        "The price of privacy, regret over that of the same learner without, at"
        f" {at_epsilons(results.epsilons)}: {'; '.join(clauses)}."
    )


def price_grid(results: Results) -> Grid:
    """Return the price of privacy."""
    rows = [(one.name, *map(str, prices(results, one))) for one in WITHOUT_PRIVACY]
    title = (
        "The price of privacy: regret over that of the same learner without privacy, after"
        f" {power(results.episodes)} users"
    )
    return Grid(title, ("", *results.heads), rows)


def price_picture(results: Results) -> Picture:
    """Draw regret at ε over regret of the same learner without privacy."""
    picture, ((panel,),) = panels(1, 1, width=8.2, height=4.6)
    ends = []
    for one in WITHOUT_PRIVACY:
        means = [price.mean for price in prices(results, one)]
        panel.plot(results.epsilons, means, "o-", color=one.colour, linewidth=1.8, markersize=5)
        ends.append(Label(means[-1], one.name, one.colour))
    panel.axhline(1, color=INK, linewidth=1)
    _epsilon_axis(panel, results.epsilons)
    log_axis(panel, "y")
    end_labels(panel, ends, size=9.5)
    panel.set_ylabel("regret at ε over regret without privacy")
    after = power(results.episodes)
    headline(picture, f"The price of privacy after {after} users, geometric mean over the draws")
    return picture


def users(results: Results) -> str:
    """Say how many users it takes until policies are near-optimal."""
    clauses = []
    for one in (REFERENCE, OPTIMIST, SAMPLER):
        needed = [users_needed(curve) for curve in results.of(one, results.shown)]
        reached = sum(np.isfinite(needed))
        median = float(np.median(needed))
        many = number(median) if np.isfinite(median) else f"more than {power(results.episodes)}"
        guessed = sum(count <= 1 for count in needed)
        clauses.append(
            f"{many} for {one.name} (reached in {reached} of {len(needed)} MDPs, in {guessed} of"
            " them by the first guess)"
        )
    return (
        f"Users needed at ε = {results.shown:g} until policies lose at most 5% of V*, in the"
        f" median: {listing(clauses)}."
    )


def users_grid(results: Results) -> Grid:
    """Return how many users are needed until policies are near-optimal."""
    rows = [
        (one.name, *(_needed(results.of(one, epsilon)) for epsilon in results.epsilons))
        for one in (*PRIVATE, *OPEN)
    ]
    title = (
        f"Users needed until policies lose at most {NEAR_OPTIMAL}, from then on: median over the"
        " draws (in how many it is reached); read from the slope of regret between checkpoints,"
        " twenty of them a factor of ten"
    )
    return Grid(title, ("", *results.heads), rows)


def _needed(curves: Sequence[Curve]) -> str:
    needed = [users_needed(curve) for curve in curves]
    reached = sum(map(math.isfinite, needed))
    many = count_or_more(float(np.median(needed)), int(curves[0].episodes[-1]))
    return f"{many} ({reached} of {len(needed)})"


def count_or_more(needed: float, most: int) -> str:
    """Write a number of users, or that it is more than there were."""
    return number(needed) if math.isfinite(needed) else f"> {power(most)}"


def users_picture(results: Results) -> Picture:
    """Draw how many users are needed until policies are near-optimal: the median over draws."""
    picture, ((panel,),) = panels(1, 1, width=8.2, height=4.6)
    never = 3.0 * results.episodes
    ends = []
    for one in WITHOUT_PRIVACY:
        medians = [
            min(float(np.median([users_needed(c) for c in results.of(one, e)])), never)
            for e in results.epsilons
        ]
        panel.plot(results.epsilons, medians, "o-", color=one.colour, linewidth=1.8, markersize=5)
        ends.append(Label(medians[-1], one.name, one.colour))
    _epsilon_axis(panel, results.epsilons)
    log_axis(panel, "y")
    panel.set_ylim(top=2 * never)
    panel.axhspan(results.episodes, 2 * never, color=FAINT, alpha=0.5, linewidth=0)
    panel.annotate(
        f"not within {power(results.episodes)} users",
        (0.99, 1.1 * results.episodes),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize=9,
        color=QUIET,
    )
    end_labels(panel, ends, size=9.5)
    panel.set_ylabel("users, median over the draws")
    headline(picture, f"Users needed until policies lose at most {NEAR_OPTIMAL}")
    return picture


def _epsilon_axis(panel: Axes, epsilons: list[float]) -> None:
    panel.set_xscale("log")
    panel.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    panel.minorticks_off()
    panel.set_xlabel("ε")
    panel.margins(x=0.03)
    if len(epsilons) == 1:
        panel.set_xlim(epsilons[0] / math.e, epsilons[0] * math.e)
