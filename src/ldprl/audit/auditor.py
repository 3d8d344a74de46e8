"""The audit: choose a pair, plan an attack, carry it out, compare the result with the claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from ldprl.accounting.profile import PrivacyProfile
from ldprl.audit.bound import Goal, LeastDelta, LeastEpsilon
from ldprl.audit.counters import CounterAttack
from ldprl.audit.neighbours import Neighbours, worst_pairs
from ldprl.audit.region import ScoreAttack, best_possible
from ldprl.audit.reports import Reports, chunks, draw_reports
from ldprl.audit.scores import classifier, floating_point, likelihood_ratio
from ldprl.errors import InputError, one_of, whole_number
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.mechanisms.sampling import InsecureSource, RandomSource
from ldprl.rounding import at_least
from ldprl.shape import Array

ATTACKS = ("likelihood", "classifier", "counters", "floating-point")
_MOST_SCOUTS = 5_000
"""Reports of each user by which a pair and its attacks are chosen: a tenth of the samples, at most
this many."""
_STRONG, _FAIR = 0.8, 0.5
"""Shares of the claimed ε from which evidence is called strong and fair; nothing else uses them."""
_USUAL_SAMPLES = 100_000
"""Reports of each user that are measured unless a caller asks for more: no region then certifies an
ε above ln(10⁵/14) = 8.9."""
_USUAL_NUMBERS = 2e7
"""Numbers in all reports of one user that are measured, unless a caller asks for more: four times
as many are drawn, which takes half a minute where each has exact Laplace noise."""


class AttackPlan(Protocol):
    """What to measure on fresh reports."""

    def certify(self, first: Array, second: Array, goal: Goal) -> float:
        """Return the bound that the evidence of either user's reports certifies."""

    def most(self, trials: int, goal: Goal) -> float:
        """Return what it would certify of two users who have no report in common."""


Progress = Callable[[int, int], object]
"""Called with (reports drawn, reports to draw)."""


class Attack(Protocol):
    """What to keep of a report, and how to plan with it."""

    @property
    def evidence(self) -> Callable[[Reports], Array]:
        """What the attack keeps of reports, a row for each."""

    def plan(self, first: Array, second: Array, goal: Goal) -> tuple[float, AttackPlan]:
        """Return the best plan for either user's evidence, and what it promises before it."""


Evidence = dict[str, tuple[Array, Array]]


@dataclass(frozen=True)
class Audit:
    """What an attacker certified against a claim.

    Attributes
    ----------
    claimed
        The (ε, δ) that was put to the test.
    exact_delta
        δ at the claimed ε by the mechanism's own privacy profile; None if it has none.
    empirical_epsilon_lower, empirical_delta_lower
        Lower bounds on ε at the claimed δ and on δ at the claimed ε; each holds with probability
        1 − 10⁻⁶ whatever the mechanism does.
    best_epsilon_lower
        What the best region of reports can expect to certify with as many of them; None without a
        profile. Only ``counters``, which uses that counters are independent, can do better.
    attack, pair
        Which attack on which pair of trajectories bounds ε.
    samples
        Reports of each user that were measured; as many more went into the plan.
    verdict
        ``violated`` if a bound exceeds the claim, which happens to a claim that holds at most
        twice in 10⁶ audits, or if the mechanism's own profile does. ``inconclusive`` if not even
        two users who have no report in common would have been told apart by as few reports: the
        audit could not have found anything.
    """

    claimed: Guarantee
    exact_delta: float | None
    empirical_epsilon_lower: float
    empirical_delta_lower: float
    best_epsilon_lower: float | None
    attack: str
    pair: str
    samples: int
    verdict: Literal["holds", "violated", "inconclusive"]

    @property
    def strength(self) -> str:
        """How much of the claimed ε the attack certified, and what would certify more."""
        found, claimed, best = (
            self.empirical_epsilon_lower,
            self.claimed.epsilon,
            self.best_epsilon_lower,
        )
        said = f"certifies {at_least(found)} of {claimed:.3g}"
        if self.verdict == "inconclusive":
            few = f"{self.samples:,} samples"
            return f"{said}: nothing, {few} would not convict a mechanism that hides nothing"
        if found >= _STRONG * claimed:
            return f"{said}: strong"
        grade = "fair" if found >= _FAIR * claimed else "weak"
        if best is None:
            return f"{said}: {grade}, more samples or another attack could certify more"
        if found >= _STRONG * best:
            return f"{said}: {grade}, only more samples could certify more"
        return f"{said}: {grade}, another attack could certify up to {best:.2g}"


def audit(
    mechanism: Mechanism,
    claimed: Guarantee,
    samples: int | None = None,
    seed: int = 0,
    attack: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Attack ``mechanism`` and say what that proves about its claim.

    Parameters
    ----------
    mechanism
        What clients run; reports are drawn with its own code.
    claimed
        The (ε, δ) to be held against.
    samples
        Reports of each of two users to be measured, after as many for the plan; by default
        :func:`usual_samples`.
    seed
        The same seed gives the same audit.
    attack
        One of :data:`ATTACKS`; by default the one that promises most. The paper's constants
        are a claim about real numbers: ``floating-point`` is used against them only on demand.
    progress
        Called with (reports drawn, reports to draw).
    """
    samples = usual_samples(mechanism) if samples is None else whole_number("samples", samples, 1)
    if not math.isfinite(claimed.epsilon):
        raise InputError("mechanism", type(mechanism).__name__, "one that claims a finite ε")
    if attack is not None:
        one_of("attack", attack, ATTACKS)
    source = InsecureSource(seed)
    goals: dict[str, Goal] = {
        "epsilon": LeastEpsilon(claimed.delta),
        "delta": LeastDelta(claimed.epsilon),
    }
    pairs = list(worst_pairs(mechanism))
    scouts = min(max(samples // 10, 100), _MOST_SCOUTS)
    drawn, total = 0, 4 * (len(pairs) * scouts + samples)

    def count(reports: int) -> None:
        nonlocal drawn
        drawn += reports
        if progress is not None:
            progress(drawn, total)

    count(0)
    pair, attacks = _scout(mechanism, pairs, goals["epsilon"], scouts, source, attack, count)

    seen = _observe(mechanism, pair, attacks, samples, source, count)
    plans = {name: _plan(attacks, seen, goal) for name, goal in goals.items()}
    used = {chosen: attacks[chosen] for chosen, _ in plans.values()}
    seen = _observe(mechanism, pair, used, samples, source, count)
    found = {
        name: max(0.0, plan.certify(*seen[chosen], goals[name]))
        for name, (chosen, plan) in plans.items()
    }
    could = {name: plan.most(samples, goals[name]) for name, (_, plan) in plans.items()}
    profile = _profile(mechanism)
    refuted = found["epsilon"] > claimed.epsilon or found["delta"] > claimed.delta
    exact = best = None
    if profile is not None:
        exact = profile.delta(claimed.epsilon)
        best = max(0.0, best_possible(profile, goals["epsilon"], samples))
        if exact > claimed.delta:
            refuted |= exact - profile.gap(claimed.epsilon) > claimed.delta
    able = could["epsilon"] > claimed.epsilon or could["delta"] > claimed.delta
    return Audit(
        claimed=claimed,
        exact_delta=exact,
        empirical_epsilon_lower=found["epsilon"],
        empirical_delta_lower=found["delta"],
        best_epsilon_lower=best,
        attack=plans["epsilon"][0],
        pair=pair.name,
        samples=samples,
        verdict="violated" if refuted else "holds" if able else "inconclusive",
    )


def usual_samples(mechanism: Mechanism) -> int:
    """Return how many reports of each user an audit measures: fewer where they are long."""
    pair = next(iter(worst_pairs(mechanism)))
    one = draw_reports(mechanism, pair.first, pair.assignment, 1, InsecureSource(0))
    return min(_USUAL_SAMPLES, max(1, int(_USUAL_NUMBERS / max(1, one.values.shape[1]))))


def _scout(
    mechanism: Mechanism,
    pairs: Sequence[Neighbours],
    goal: Goal,
    count: int,
    source: RandomSource,
    wanted: str | None,
    drew: Callable[[int], object],
) -> tuple[Neighbours, dict[str, Attack]]:
    """Return the pair that promises most on a few reports, and the attacks on it."""
    found = []
    for pair in pairs:
        first, second = (
            draw_reports(mechanism, trajectory, pair.assignment, count, source)
            for trajectory in (pair.first, pair.second)
        )
        drew(2 * count)
        attacks = _attacks(mechanism, pair, first, second, wanted)
        seen = _observe(mechanism, pair, attacks, count, source, drew)
        promise = max(attacks[name].plan(*both, goal)[0] for name, both in seen.items())
        found.append((max(0.0, promise), pair, attacks))
    # The first of those that promise as much: where none promises anything, the worst pair.
    _, pair, attacks = max(found, key=lambda item: item[0])
    return pair, attacks


def _attacks(
    mechanism: Mechanism, pair: Neighbours, first: Reports, second: Reports, wanted: str | None
) -> dict[str, Attack]:
    """Return the attacks that apply to reports such as these, or the one ``wanted``."""
    attacks: dict[str, Attack] = {"classifier": ScoreAttack(classifier(first, second))}
    lengths = np.union1d(first.lengths, second.lengths)
    if len(lengths) == 1:
        width = int(lengths[0])
        if mechanism.log_likelihood(first.values[:1], pair.first, pair.assignment) is not None:
            attacks["likelihood"] = ScoreAttack(likelihood_ratio(mechanism, pair, width))
        layout = mechanism.counters()
        if layout is not None and width == layout.length:
            counts = pair.counts(layout)
            if mechanism.independent_counters:
                differ = np.flatnonzero(counts[0] != counts[1])
                attacks["counters"] = CounterAttack.fit(differ, first, second)
            if mechanism.constants == "sound" or wanted == "floating-point":
                attacks["floating-point"] = ScoreAttack(floating_point(*counts))
    if wanted is None:
        return attacks
    if wanted not in attacks:
        raise InputError("attack", wanted, "one that applies: " + ", ".join(attacks))
    return {wanted: attacks[wanted]}


def _observe(
    mechanism: Mechanism,
    pair: Neighbours,
    attacks: Mapping[str, Attack],
    count: int,
    source: RandomSource,
    drew: Callable[[int], object],
) -> Evidence:
    """Draw ``count`` fresh reports of each user and return what each attack keeps of them."""
    parts: dict[str, tuple[list[Array], list[Array]]] = {name: ([], []) for name in attacks}
    for side, trajectory in enumerate((pair.first, pair.second)):
        for chunk in chunks(count):
            reports = draw_reports(mechanism, trajectory, pair.assignment, chunk, source)
            for name, attack in attacks.items():
                parts[name][side].append(attack.evidence(reports))
            drew(chunk)
    return {
        name: (np.concatenate(first), np.concatenate(second))
        for name, (first, second) in parts.items()
    }


def _plan(attacks: Mapping[str, Attack], seen: Evidence, goal: Goal) -> tuple[str, AttackPlan]:
    """Return the name of the attack that promises most, and its plan."""
    plans = {name: attack.plan(*seen[name], goal) for name, attack in attacks.items()}
    best = max(plans, key=lambda name: plans[name][0])
    return best, plans[best][1]


def _profile(mechanism: Mechanism) -> PrivacyProfile | None:
    try:
        return mechanism.privacy_profile()
    except InputError:
        return None
