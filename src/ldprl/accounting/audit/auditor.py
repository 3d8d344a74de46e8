"""The audit: choose a pair, plan an attack, carry it out, hold the result against the claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from ldprl.accounting.audit.bound import Goal, LeastDelta, LeastEpsilon
from ldprl.accounting.audit.counters import CounterAttack
from ldprl.accounting.audit.neighbours import Neighbours, worst_pairs
from ldprl.accounting.audit.region import ScoreAttack, best_possible
from ldprl.accounting.audit.reports import Reports, chunks, draw_reports
from ldprl.accounting.audit.scores import classifier, floating_point, likelihood_ratio
from ldprl.accounting.profile import PrivacyProfile
from ldprl.errors import InputError, one_of, whole_number
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.mechanisms.sampling import RandomSource, SeededSourceForTests
from ldprl.shape import Array

ATTACKS = ("likelihood", "classifier", "counters", "floating-point")
_MOST_SCOUTS = 5_000


class Plan(Protocol):
    """What to measure on fresh reports."""

    def certify(self, first: Array, second: Array, goal: Goal) -> float:
        """Return the bound that the evidence of either user's reports certifies."""


class Attack(Protocol):
    """What to keep of a report, and how to plan with it."""

    @property
    def evidence(self) -> Callable[[Reports], Array]:
        """What the attack keeps of reports, a row for each."""

    def plan(self, first: Array, second: Array, goal: Goal) -> tuple[float, Plan]:
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
        twice in 10⁶ audits, or if the mechanism's own profile does.
    """

    claimed: Guarantee
    exact_delta: float | None
    empirical_epsilon_lower: float
    empirical_delta_lower: float
    best_epsilon_lower: float | None
    attack: str
    pair: str
    samples: int
    verdict: Literal["holds", "violated"]


def audit(
    mechanism: Mechanism,
    claimed: Guarantee,
    samples: int = 100_000,
    seed: int = 0,
    attack: str | None = None,
) -> Audit:
    """Attack ``mechanism`` and say what that proves about its claim.

    Parameters
    ----------
    mechanism
        What clients run; reports are drawn with its own code.
    claimed
        The (ε, δ) to be held against.
    samples
        Reports of each of two users to be measured, after as many for the plan.
    seed
        The same seed, the same audit.
    attack
        One of :data:`ATTACKS`; by default the one that promises most. The paper's constants
        are a claim about real numbers: ``floating-point`` is used against them only on demand.
    """
    whole_number("samples", samples, 1)
    if not math.isfinite(claimed.epsilon):
        raise InputError("mechanism", type(mechanism).__name__, "one that claims a finite ε")
    if attack is not None:
        one_of("attack", attack, ATTACKS)
    source = SeededSourceForTests(seed)
    goals: dict[str, Goal] = {
        "epsilon": LeastEpsilon(claimed.delta),
        "delta": LeastDelta(claimed.epsilon),
    }
    pair, attacks = _scout(mechanism, goals["epsilon"], samples, source, attack)

    seen = _observe(mechanism, pair, attacks, samples, source)
    plans = {name: _plan(attacks, seen, goal) for name, goal in goals.items()}
    used = {chosen: attacks[chosen] for chosen, _ in plans.values()}
    seen = _observe(mechanism, pair, used, samples, source)
    found = {
        name: max(0.0, plan.certify(*seen[chosen], goals[name]))
        for name, (chosen, plan) in plans.items()
    }
    profile = _profile(mechanism)
    refuted = found["epsilon"] > claimed.epsilon or found["delta"] > claimed.delta
    exact = best = None
    if profile is not None:
        exact = profile.delta(claimed.epsilon)
        best = max(0.0, best_possible(profile, goals["epsilon"], samples))
        if exact > claimed.delta:
            refuted |= exact - profile.gap(claimed.epsilon) > claimed.delta
    return Audit(
        claimed=claimed,
        exact_delta=exact,
        empirical_epsilon_lower=found["epsilon"],
        empirical_delta_lower=found["delta"],
        best_epsilon_lower=best,
        attack=plans["epsilon"][0],
        pair=pair.name,
        samples=samples,
        verdict="violated" if refuted else "holds",
    )


def _scout(
    mechanism: Mechanism, goal: Goal, samples: int, source: RandomSource, wanted: str | None
) -> tuple[Neighbours, dict[str, Attack]]:
    """Return the pair that promises most on a few reports, and the attacks on it."""
    count = min(max(samples // 10, 100), _MOST_SCOUTS)
    found = []
    for pair in worst_pairs(mechanism):
        first, second = (
            draw_reports(mechanism, trajectory, pair.assignment, count, source)
            for trajectory in (pair.first, pair.second)
        )
        attacks = _attacks(mechanism, pair, first, second, wanted)
        seen = _observe(mechanism, pair, attacks, count, source)
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
        if isinstance(mechanism, CountingMechanism) and width == mechanism.layout.length:
            counts = pair.counts(mechanism.layout)
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
) -> Evidence:
    """Draw ``count`` fresh reports of each user and return what each attack keeps of them."""
    parts: dict[str, tuple[list[Array], list[Array]]] = {name: ([], []) for name in attacks}
    for side, trajectory in enumerate((pair.first, pair.second)):
        for chunk in chunks(count):
            reports = draw_reports(mechanism, trajectory, pair.assignment, chunk, source)
            for name, attack in attacks.items():
                parts[name][side].append(attack.evidence(reports))
    return {
        name: (np.concatenate(first), np.concatenate(second))
        for name, (first, second) in parts.items()
    }


def _plan(attacks: Mapping[str, Attack], seen: Evidence, goal: Goal) -> tuple[str, Plan]:
    """Return the name of the attack that promises most, and its plan."""
    plans = {name: attack.plan(*seen[name], goal) for name, attack in attacks.items()}
    best = max(plans, key=lambda name: plans[name][0])
    return best, plans[best][1]


def _profile(mechanism: Mechanism) -> PrivacyProfile | None:
    try:
        return mechanism.privacy_profile()
    except InputError:
        return None
