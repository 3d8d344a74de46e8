"""The tables of the figure beyond the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ldprl.bounds import regret_lower_bound_ldp
from ldprl.figures.beyond.contenders import OPEN, PRIVATE, WITHOUT_PRIVACY
from ldprl.figures.beyond.measures import (
    NEAR,
    Results,
    Spread,
    growth,
    ratios,
    regret_at,
    spread_of,
    users_needed,
)
from ldprl.figures.beyond.sweep import LARGER, ON_THE_TREE
from ldprl.figures.beyond.verdicts import verdicts
from ldprl.figures.common.curves import Curve, pick
from ldprl.figures.common.figure import Grid
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.words import number, percent, power
from ldprl.figures.hard_instance.sweep import ACTIONS, HORIZON, STATES


def bars_grid(results: Results) -> Grid:
    """Return the aims beside what was found."""
    rows = [
        (v.text, f"≥ {number(v.aim)}", number(v.found), "reached" if v.met else "not reached")
        for v in verdicts(results)
    ]
    heads = ("aim", "ratio aimed at", "found", "")
    return Grid("What was aimed at, and what was found", heads, rows, folded=False)


def ratio_grid(results: Results, users: int) -> Grid:
    """Return the reference's regret over everybody's."""
    rows = [
        (
            one.name,
            *(_spread(spread_of(results.ratios(one, e, users))) for e in results.epsilons),
        )
        for one in (*PRIVATE, *OPEN)
    ]
    title = (
        f"Regret of LDP-OBI with Laplace noise as printed over that of each, after {power(users)}"
        " users: geometric mean over the draws (least – most; geometric standard deviation)"
    )
    return Grid(title, ("", *_epsilon_heads(results)), rows, folded=False)


def larger_grid(results: Results) -> Grid:
    """Return the regret of all on the larger problems, and how much of it a user has."""
    epsilon = results.shown
    rows = []
    for place, title in LARGER.items():
        here = pick(results.larger, environment=place)
        for one in (*PRIVATE, *OPEN):
            (curve,) = one.curves(here, epsilon) or one.curves(here)
            last = int(curve.episodes[-1])
            each = number(curve.final / last)
            needed = _users(users_needed(curve), last)
            rows.append((title, one.name, number(regret_at(curve, last)), each, needed))
    heads = ("problem", f"learner, ε = {epsilon:g}", "regret", "a user", f"users to {_NEAR}")
    return Grid("Larger problems", heads, rows)


_NEAR = f"{percent(NEAR)} of V*"


def price_grid(results: Results) -> Grid:
    """Return the price of privacy."""
    rows = []
    for one, free in WITHOUT_PRIVACY.items():
        spreads = [
            spread_of(ratios(results.of(one, e), results.of(free, e), results.episodes))
            for e in results.epsilons
        ]
        rows.append((one.name, *(_spread(spread) for spread in spreads)))
    title = (
        "The price of privacy: regret over that of the same learner without privacy, after"
        f" {power(results.episodes)} users"
    )
    return Grid(title, ("", *_epsilon_heads(results)), rows)


def users_grid(results: Results) -> Grid:
    """Return how many users are needed until policies are near-optimal."""
    rows = [
        (one.name, *(_needed(results.of(one, epsilon)) for epsilon in results.epsilons))
        for one in (*PRIVATE, *OPEN)
    ]
    title = (
        f"Users needed until policies lose at most {_NEAR}, from then on: median over the draws"
        " (in how many it is reached); read from the slope of regret between checkpoints, twenty"
        " of them a factor of ten"
    )
    return Grid(title, ("", *_epsilon_heads(results)), rows)


def ablation_grid(results: Results) -> Grid:
    """Return what each idea gives."""
    epsilons = [epsilon for epsilon in results.epsilons if epsilon in EPSILONS]
    columns = [results.ablation(epsilon, results.episodes) for epsilon in epsilons]
    texts = list(columns[0]) if columns else []
    rows = [(text, *(_spread(spread_of(column[text])) for column in columns)) for text in texts]
    title = f"What each idea gives, times less regret after {power(results.episodes)} users"
    return Grid(title, ("", *(f"ε = {epsilon:g}" for epsilon in epsilons)), rows)


def tree_grid(results: Results) -> Grid:
    """Return regret on the lower bound's tree over the lower bound, and how it grows with K."""
    rows = []
    for epsilon in sorted({curve.epsilon for curve in results.tree}):
        for one in ON_THE_TREE:
            curves = one.curves(results.tree, epsilon)
            sizes = [int(curve.episodes[-1]) for curve in curves]
            bounds = [regret_lower_bound_ldp(STATES, ACTIONS, HORIZON, k, epsilon) for k in sizes]
            above = [curve.final / bound for curve, bound in zip(curves, bounds, strict=True)]
            rows.append(
                (
                    one.name,
                    f"{epsilon:g}",
                    f"{growth(curves):.2f}",
                    f"{number(min(above))} to {number(max(above))}",
                )
            )
    heads = ("learner", "ε", "regret grows like K to the", "times the lower bound")
    title = "On the lower bound's tree, with Δ chosen anew for each K"
    return Grid(title, heads, rows)


def _needed(curves: Sequence[Curve]) -> str:
    needed = [users_needed(curve) for curve in curves]
    reached = sum(map(math.isfinite, needed))
    many = _users(float(np.median(needed)), int(curves[0].episodes[-1]))
    return f"{many} ({reached} of {len(needed)})"


def _users(needed: float, most: int) -> str:
    return number(needed) if math.isfinite(needed) else f"> {power(most)}"


def _epsilon_heads(results: Results) -> list[str]:
    return [f"ε = {epsilon:g}" for epsilon in results.epsilons]


def _spread(spread: Spread) -> str:
    return (
        f"{number(spread.mean)} ({number(spread.least)} – {number(spread.most)};"
        f" ×{number(spread.factor)})"
    )
