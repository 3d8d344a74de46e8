"""Regret against users: the figure's main pictures, sentences and table of ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.figures.curves import Curve
from ldprl.figures.drawing import Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import listing, number, percent, power
from ldprl.mechanisms.catalogue import build_mechanism
from ldprl.shape import FloatArray
from ldprl.worlds.specification import mdp_from
from studies.figures.beyond.results import (
    BERNSTEIN,
    LEAST_REGRET,
    NOISELESS,
    OPEN,
    OPTIMIST,
    PRIVATE,
    REFERENCE,
    SAMPLER,
    SEEING_ALL,
    UCB_VI,
    Contender,
    Results,
    geometric_mean,
    ratios,
    regret_at,
    spread_of,
)

_FIRST_SHOWN = 100
"""Users from which on pictures show regret; half of all users, if these are fewer."""


def less_regret(results: Results) -> str:
    """Say how much less regret there is."""
    epsilon, last = results.shown, results.marks[-1]
    parts = []
    for one in (OPTIMIST, SAMPLER):
        spread = spread_of(results.ratios(one, epsilon, last))
        parts.append(
            f"{number(spread.mean)} times less by {one.name}"
            f" ({number(spread.least)} to {number(spread.most)})"
        )
    count = len(results.of(REFERENCE, epsilon))
    return (
        f"At ε = {epsilon:g}, after {power(last)} users, the regret of {REFERENCE.name} is made"
        f" {listing(parts)}, in the geometric mean over {count} MDPs (least and most)."
    )


def beside_those_who_see_all(results: Results) -> str:
    """Compare our private learners with others that have no privacy."""
    clauses = []
    for one in (OPTIMIST, SAMPLER):
        parts = []
        for other in (NOISELESS, UCB_VI, BERNSTEIN):
            curves = results.of(one, results.shown), results.of(other, results.shown)
            values = ratios(curves[1], curves[0], results.episodes)
            won = sum(value > 1 for value in values)
            mean = number(spread_of(values).mean)
            parts.append(f"{mean} for {other.name} (more in {won} of {len(values)} MDPs)")
        clauses.append(f"over that of {one.name}: {listing(parts)}")
    return (
        f"Regret of learners without any privacy over that of ours at ε = {results.shown:g}, after"
        f" {power(results.episodes)} users; {'; '.join(clauses)}."
    )


def privacy(results: Results) -> str:
    """Say what the accountant finds that a report gives away."""
    shape = mdp_from(results.draws[0].environment).shape
    clauses, broken = [], False
    for one in (REFERENCE, OPTIMIST):
        shares = []
        for epsilon in results.epsilons:
            made = build_mechanism(one.mechanism, shape, epsilon, constants=one.constants)
            shares.append(made.privacy_profile().pure / epsilon)
        broken |= max(shares) > 1 + 1e-9
        found = listing([percent(share) for share in dict.fromkeys(np.round(shares, 4))])
        clauses.append(f"{found} of ε for {one.name}")
    verdict = "MORE THAN CLAIMED" if broken else "nobody spends more than claimed"
    return f"By the accountant a report spends at most {listing(clauses)}, with δ = 0: {verdict}."


def luck(results: Results) -> str:
    """Say how luck is counted, and what is left without it."""
    epsilon, last = results.shown, results.marks[-1]
    printed = results.of(REFERENCE, epsilon)
    clauses, totals = [], []
    for one in (OPTIMIST, SAMPLER):
        curves = results.of(one, epsilon)
        lucky = [curve.final < LEAST_REGRET for curve in curves]
        paired = zip(results.ratios(one, epsilon, last), lucky, strict=True)
        rest = [ratio for ratio, luck in paired if not luck]
        mean = f"{number(spread_of(rest).mean)} over the others" if rest else "no others"
        clauses.append(f"{one.name} in {sum(lucky)} of {len(lucky)} ({mean})")
        summed = [sum(regret_at(c, last) for c in some) for some in (printed, curves)]
        totals.append(f"{number(summed[0] / summed[1])} for {one.name}")
    return (
        f"Regret below {LEAST_REGRET:g}, one unit of reward in all, counts as {LEAST_REGRET:g},"
        " whoever has it: where the first guess is the best policy and nothing can look better, a"
        f" ratio would be infinite. At ε = {epsilon:g} that happens to {listing(clauses)}. With"
        " regret added up over the MDPs, which the hardest of them decide, the ratio is"
        f" {listing(totals)}."
    )


def ratio_grid(results: Results, users: int) -> Grid:
    """Return the reference's regret over everybody's."""
    rows = [
        (one.name, *(str(spread_of(results.ratios(one, e, users))) for e in results.epsilons))
        for one in (*PRIVATE, *OPEN)
    ]
    title = (
        f"Regret of LDP-OBI with Laplace noise as printed over that of each, after {power(users)}"
        " users: geometric mean over the draws (least – most; geometric standard deviation)"
    )
    return Grid(title, ("", *results.heads), rows, folded=False)


def main_picture(results: Results) -> Picture:
    """Draw regret against users at the ε of the headline."""
    epsilon = results.shown
    picture, ((panel,),) = panels(1, 1, width=9.6, height=5.0)
    shown = (REFERENCE, *SEEING_ALL, OPTIMIST, SAMPLER)
    final = _lines(panel, results, shown, epsilon, bands=True)
    ends = [Label(final[one], _first_label(one, final), one.colour) for one in shown]
    end_labels(panel, ends, size=11)
    panel.set_xlabel("users")
    panel.set_ylabel("regret so far")
    count = len(results.of(REFERENCE, epsilon))
    headline(
        picture,
        f"The same privacy, ε = {epsilon:g}: what all users together lose while the service"
        f" learns\n(geometric mean over {count} MDPs with S = A = H = 2; bands: where half of them"
        " are)",
    )
    return picture


def _first_label(one: Contender, final: dict[Contender, float]) -> str:
    short = {REFERENCE: "LDP-OBI, as in the paper", OPTIMIST: "LDP-EVI", SAMPLER: "LDP-TS"}
    name = short.get(one, one.name)
    if one in (OPTIMIST, SAMPLER):
        return f"{name}: {number(final[REFERENCE] / final[one])} × less"
    return name


def every_epsilon(results: Results) -> Picture:
    """Draw a panel for each ε, with everybody in it."""
    columns = min(3, len(results.epsilons))
    rows = -(-len(results.epsilons) // columns)
    picture, axes = panels(rows, columns, width=5.2, height=3.9)
    ends = []
    for i, epsilon in enumerate(results.epsilons):
        panel = axes[i // columns][i % columns]
        shown = (*PRIVATE, *SEEING_ALL)
        final = _lines(panel, results, shown, epsilon)
        ends.append((panel, [Label(final[one], one.name, one.colour) for one in shown]))
        panel.set_title(f"ε = {epsilon:g}")
    for panel, labels in ends:  # panels of a row share their scale, which all lines decide
        end_labels(panel, labels, size=8.5)
    for empty in range(len(results.epsilons), rows * columns):
        axes[empty // columns][empty % columns].set_visible(False)
    for panel in axes[-1]:
        panel.set_xlabel("users")
    for row in axes:
        row[0].set_ylabel("regret so far")
    headline(picture, "Regret against users, geometric mean over the draws; dashed: no privacy")
    return picture


def _lines(
    panel: Axes,
    results: Results,
    shown: Sequence[Contender],
    epsilon: float,
    *,
    bands: bool = False,
) -> dict[Contender, float]:
    """Draw the contenders' means over the draws, and return where they end."""
    final = {}
    for one in shown:
        curves = results.of(one, epsilon)
        if bands and one not in SEEING_ALL:
            episodes, regrets = _regrets(curves)
            low, high = np.quantile(regrets, [0.25, 0.75], axis=0)
            panel.fill_between(episodes, low, high, color=one.colour, alpha=0.16, linewidth=0)
        final[one] = draw_mean(panel, one, curves)
    regret_axes(panel)
    return final


def draw_mean(panel: Axes, one: Contender, curves: Sequence[Curve]) -> float:
    """Draw the geometric mean of the curves' regret, and return where the line ends."""
    episodes, regrets = _regrets(curves)
    mean = geometric_mean(regrets)
    dashes = (0, (4, 2)) if one in SEEING_ALL else "-"
    line = 2.6 if one in (REFERENCE, OPTIMIST, SAMPLER) else 1.6
    panel.plot(episodes, mean, color=one.colour, linestyle=dashes, linewidth=line)
    return float(mean[-1])


def _regrets(curves: Sequence[Curve]) -> tuple[FloatArray, FloatArray]:
    """Return checkpoints, and the mean regret of each curve at them, at least one unit."""
    episodes = curves[0].episodes
    from_here = episodes >= min(_FIRST_SHOWN, int(episodes[-1]) // 2)
    regrets = np.array([np.maximum(curve.mean[from_here], LEAST_REGRET) for curve in curves])
    return episodes[from_here].astype(np.float64), regrets


def regret_axes(panel: Axes) -> None:
    """Make both axes of a panel of regret logarithmic."""
    panel.margins(x=0)
    log_axis(panel, "x", every=2)
    log_axis(panel, "y", every=2)
