"""What the figure beyond the paper shows, and which of the aims are reached."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from ldprl.figures.beyond.contenders import (
    BERNSTEIN,
    NOISELESS,
    OPTIMIST,
    REFERENCE,
    SAMPLER,
    UCB_VI,
    WITHOUT_PRIVACY,
)
from ldprl.figures.beyond.grids import (
    ablation_grid,
    bars_grid,
    larger_grid,
    price_grid,
    ratio_grid,
    tree_grid,
    users_grid,
)
from ldprl.figures.beyond.measures import (
    LEAST_REGRET,
    Results,
    growth,
    ratios,
    regret_at,
    spread_of,
    users_needed,
)
from ldprl.figures.beyond.sweep import ON_THE_TREE
from ldprl.figures.beyond.verdicts import verdicts
from ldprl.figures.common.figure import Findings
from ldprl.figures.common.words import at_epsilons, listing, number, percent, power
from ldprl.mdp.specification import mdp_from
from ldprl.mechanisms.catalogue import build_mechanism


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    results = Results(table)
    sentences = [
        first(results),
        aims(results),
        beside_those_who_see_all(results),
        price(results),
        users(results),
        tree(results),
        privacy(results),
        luck(results),
    ]
    grids = [
        bars_grid(results),
        *(ratio_grid(results, mark) for mark in results.marks),
        larger_grid(results),
        price_grid(results),
        users_grid(results),
        ablation_grid(results),
        tree_grid(results),
    ]
    return Findings(sentences, grids)


def first(results: Results) -> str:
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


def aims(results: Results) -> str:
    """Say which aims are reached."""
    found = verdicts(results)
    if not found:
        return "This run is too short, or has too few ε, for the aims that were set."
    missed = [verdict for verdict in found if not verdict.met]
    if not missed:
        return f"All of {len(found)} aims are reached."
    names = [f"{verdict.text} ({number(verdict.found)})" for verdict in missed]
    return (
        f"Of {len(found)} aims {len(found) - len(missed)} are reached. Not reached:"
        f" {'; '.join(names)}."
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


def price(results: Results) -> str:
    """Say what privacy costs."""
    clauses = []
    for one in (REFERENCE, OPTIMIST, SAMPLER):
        free = WITHOUT_PRIVACY[one]
        means = [
            spread_of(ratios(results.of(one, e), results.of(free, e), results.episodes)).mean
            for e in results.epsilons
        ]
        clauses.append(f"{listing([number(mean) for mean in means])} for {one.name}")
    return (
        "The price of privacy, regret over that of the same learner without, at"
        f" {at_epsilons(results.epsilons)}: {'; '.join(clauses)}."
    )


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


def tree(results: Results) -> str:
    """Say whether √K is back where the lower bound says that it must be."""
    powers = [
        growth(one.curves(results.tree, epsilon))
        for epsilon in sorted({curve.epsilon for curve in results.tree})
        for one in ON_THE_TREE
    ]
    if any(math.isnan(power) for power in powers):
        return "This run is too short to tell how regret grows on the lower bound's tree."
    low, high = min(powers), max(powers)
    verdict = "√K is back" if low > 0.4 and high < 0.6 else "not √K for all of them"
    return (
        "On the lower bound's tree, made harder with every K, regret grows like K to the power of"
        f" {low:.2f} to {high:.2f}: {verdict}, for our learners as for the paper's."
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
