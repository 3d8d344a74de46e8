"""A deployment's privacy statement: for programs as a dictionary, for people in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ldprl.accounting.composition import (
    MOST_EPSILON,
    Budget,
    Spent,
    composed_epsilon,
    spent_together,
)
from ldprl.accounting.profile import chance_beyond
from ldprl.accounting.shuffling import central_delta, central_epsilon
from ldprl.accounting.words import at_most_sure, bullets, chance, odds, paragraph
from ldprl.errors import InputError, instance_of, probability, whole_number
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.rounding import at_most

_VERSION = 1
_SMALL_DELTA = 1e-6
"""δ at which several reports are composed, unless one report has a larger one."""
_LARGEST_EPSILON = math.log(1e9)
"""Above this, a factor e^ε on the odds is not stated as a limit."""
USUAL_CROWD_DELTA = 1e-8
"""δ at which the privacy of a crowd is stated, unless the caller names another."""


@dataclass(frozen=True)
class Mixed:
    """The privacy of a report in a crowd of at least ``crowd`` reports that a relay mixes.

    ``beyond`` bounds the chance that all of them change the odds by more than e^ε.
    """

    crowd: int
    epsilon: float
    delta: float
    beyond: float


@dataclass(frozen=True)
class PrivacyStatement:
    """What a deployment promises its users, as the code as built keeps it.

    ``beyond`` bounds the chance that a report changes the odds by more than e^ε; None if it is not
    known. ``sizes`` says how large the problem is, and ``exposed`` what those see who see more of a
    user than reports.
    """

    name: str
    summary: str
    parameters: dict[str, Any]
    claimed: Guarantee
    given: Guarantee
    report: str
    returning: tuple[Spent, ...]
    question: bool
    simulation_only: bool
    beyond: float | None
    mixed: Mixed | None = None
    known: tuple[str, ...] = ()
    sizes: str = ""
    exposed: str = ""

    @property
    def holds(self) -> bool:
        """Whether a report is as private as its mechanism was asked to make it."""
        return self.given.epsilon <= self.claimed.epsilon and self.given.delta <= self.claimed.delta

    @property
    def private(self) -> bool:
        """Whether a report hides anything at all."""
        return math.isfinite(self.given.epsilon) and self.given.delta < 1

    @property
    def public(self) -> list[str]:
        """What anybody may know."""
        asked = "the question that you are asked; it is chosen without looking at your data"
        return [
            "the policy that you are given: which action to take in which situation",
            *([asked] if self.question else []),
            "that you sent a report, and when",
            "your report as it was sent" + (", with the noise in it" if self.private else ""),
            "everything in this statement",
        ]

    @property
    def not_protected(self) -> list[str]:
        """What noise in a report does not hide."""
        everything = "what happened to you: a report may reveal all of it"
        total = (
            "what all your reports together reveal, here and in other deployments: what they cost"
            " adds up, and your device keeps the account"
        )
        return [
            *([] if self.private else [everything]),
            "that you take part",
            "what your connection shows, such as your network address",
            "what is true of people in general: the service is there to learn it, and it may be"
            " true of you",
            "what other sources, or reports of people close to you, say about you",
            "what is on your device: whoever can read it sees what happened",
            *([self.exposed] if self.exposed else []),
            *([total] if self.private else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement for programs; an ε of None is one that is not bounded."""
        return {
            "version": _VERSION,
            "mechanism": {"name": self.name, "summary": self.summary, **self.parameters},
            "holds": self.holds,
            "claimed": _level(self.claimed.epsilon, self.claimed.delta),
            "per_report": _level(self.given.epsilon, self.given.delta) | {"beyond": self.beyond},
            "report": self.report,
            "returning_user": [
                {
                    "reports": spent.reports,
                    "basic": _level(float(spent.basic_epsilon), float(spent.basic_delta)),
                    "composed": _level(spent.epsilon, spent.delta),
                }
                for spent in self.returning
            ],
            "public": self.public,
            "not_protected": self.not_protected,
            "simulation_only": self.simulation_only,
            "crowd": None if self.mixed is None else asdict(self.mixed),
            "known": list(self.known),
        }

    def to_text(self) -> str:
        """Return the statement for people."""
        parts = [paragraph(self.headline())]
        if self.report:
            parts.append(paragraph(self.report))
        if self.private:
            parts.append(paragraph(self.meaning()))
        if self.mixed is not None:
            parts.append(paragraph(self.promises(self.mixed)))
        if self.returning:
            head = (
                "If you report more than once, all your reports together say no more about you than"
                " one report would with:"
            )
            parts.append(bullets(head, map(returning_in_words, self.returning)))
        if self.known:
            head = (
                "The service states what is publicly known. It asked nobody for this, and your"
                " reports are as private as without it:"
            )
            parts.append(bullets(head, self.known))
        parts.append(bullets("Anybody may know:", self.public))
        parts.append(bullets("Not protected:", self.not_protected))
        parts.append(paragraph(self._method()))
        return "\n\n".join(parts) + "\n"

    def headline(self) -> str:
        """Say how private a report is."""
        given, claimed = self.given, self.claimed
        if math.isinf(given.epsilon):
            return "Your reports are not private: they say what happened to you, as it was."
        if not self.holds:
            return (
                f"Your reports are less private than claimed: the claim is ε = {claimed.epsilon:g}"
                f" with δ = {claimed.delta:g}, but at this ε the true δ is"
                f" {at_most(given.delta)}. A report may say as much as one that gives you away"
                f" altogether with a chance of {chance(given.delta)}."
            )
        weak = "only weakly " if self._weak else ""
        delta = f" and δ = {at_most(given.delta, 6)}" if given.delta else ""
        level = f"ε = {at_most(given.epsilon, 6)}{delta}"
        return (
            f"Each of your reports is {weak}private, with {level}. Your device"
            " adds noise to a report before sending it; what really happened stays on your device."
        )

    @property
    def _weak(self) -> bool:
        """Whether a report may leave less than 1% of doubt, or does so in more than 1% of cases."""
        return self.given.epsilon > math.log(99) or self.given.delta > 0.01

    def meaning(self) -> str:
        """Say what (ε, δ) does and does not let a report change."""
        epsilon, delta = self.given.epsilon, self.given.delta
        factor, sure = odds(epsilon), at_most_sure(epsilon)
        if delta:
            text = (
                "What that means: take any two courses of events that may have happened to you. A"
                " report says no more about which of them did than this would: with a chance of δ,"
                f" {chance(delta)}, you are given away; otherwise, whatever somebody believed about"
                " you, the odds between the two change by at most a factor of e^ε,"
                f" {factor}. Somebody who found the two equally likely can then become {sure} sure"
                f" of one of them. {_going_beyond(self.beyond)}"
            )
        else:
            text = (
                "What that means: whatever somebody believed about you, seeing one report can"
                " change the odds between any two courses of events that may have happened to you"
                f" by at most a factor of e^ε, {factor}. Somebody who found the two equally likely"
                f" can become {sure} sure of one of them. There is no exception to this limit"
                " (δ = 0). "
            )
        return text + (
            "All this is so whoever looks and whatever else they know: the service, those who work"
            " there, and anybody who gets hold of your report later."
        )

    def promises(self, mixed: Mixed) -> str:
        """Say what a user has with and without trust in the relay."""
        return (
            "Between you and the service stands a relay, so you have two promises. Even if relay"
            " and service work together, all of the above holds, with"
            f" ε₀ = {at_most(self.given.epsilon, 6)}. As long as they do not, nobody knows which"
            f" report is yours among at least {mixed.crowd:,}, and all of them say no more about"
            f" you than this would: with a chance of {chance(mixed.delta)}"
            f" (δ = {at_most(mixed.delta, 6)}) you are given away; otherwise the odds change by at"
            f" most a factor of {odds(mixed.epsilon)} (ε = {at_most(mixed.epsilon, 4)})."
            f" {_going_beyond(mixed.beyond)}"
            f"If fewer than {mixed.crowd:,} people report in time, your report is destroyed unread."
        )

    def _method(self) -> str:
        of = self.parameters
        each = ", each step with a model of its own" if of.get("step_dependent") else ""
        text = (
            f"How it works: {self.name}, that is {self.summary}. {self.sizes}{each};"
            f" {of['constants']} constants."
        )
        if self.simulation_only:
            text += " Its noise is drawn in floating point, which can give the data away: it is fit"
            text += " for simulation, and a client refuses it."
        return text


def privacy_statement(
    mechanism: Mechanism,
    reports: Sequence[int] = (2, 10, 100),
    crowd: int | None = None,
    crowd_delta: float = USUAL_CROWD_DELTA,
    known: Sequence[str] = (),
) -> PrivacyStatement:
    """Return the privacy statement of a deployment that uses ``mechanism``.

    Parameters
    ----------
    mechanism
        As built. With ``paper`` constants the claim is what it was asked for, its own ``epsilon``
        and ``delta``; with ``sound`` ones it is what it gives.
    reports
        Say what a user who returns this many times has spent: by adding up, and by composing the
        privacy losses at the δ of one report, or at 10⁻⁶ if that is smaller.
    crowd, crowd_delta
        How many reports a relay mixes at least, and at which δ to say what that adds.
    known
        Sentences on what the deployment states to be publicly known.
    """
    instance_of("mechanism", mechanism, Mechanism, "Laplace(shape, epsilon=1.0)")
    for field, several in (("reports", reports), ("known", known)):
        if isinstance(several, str) or not isinstance(several, Sequence):
            raise InputError(field, several, "a list")
    probability("crowd_delta", crowd_delta, zero=False)
    for index, count in enumerate(reports):
        whole_number(f"reports[{index}]", count, 1)
    given = mechanism.guarantee
    claimed = given
    if mechanism.constants == "paper":
        asked = getattr(mechanism, "epsilon", given.epsilon), getattr(mechanism, "delta", 0.0)
        claimed = Guarantee(*asked)
    private = math.isfinite(given.epsilon) and given.delta < 1
    mixed = None
    if crowd is not None:
        mixed = _mixed(mechanism, whole_number("crowd", crowd, 2), crowd_delta)
    return PrivacyStatement(
        name=mechanism.name,
        summary=mechanism.summary,
        parameters={
            "constants": mechanism.constants,
            **mechanism.problem.sizes(),
            "resolution": mechanism.resolution,
        },
        claimed=claimed,
        given=given,
        report=mechanism.in_plain_words,
        returning=tuple(_spent(mechanism, count) for count in reports) if private else (),
        question=mechanism.asks > 0,
        simulation_only=mechanism.constants == "paper" and mechanism.resolution is None,
        beyond=_beyond(mechanism) if private else None,
        mixed=mixed,
        known=tuple(known),
        sizes=mechanism.problem.in_words,
        exposed=mechanism.problem.exposed,
    )


def _mixed(mechanism: Mechanism, crowd: int, delta: float) -> Mixed:
    blankets = mechanism.blankets()
    central = central_epsilon(blankets, crowd, delta)
    beyond = chance_beyond(lambda epsilon: central_delta(blankets, crowd, epsilon), central)
    return Mixed(crowd, central, delta, beyond)


def _beyond(mechanism: Mechanism) -> float | None:
    """Return a bound on the chance that one report changes the odds by more than e^ε, if known."""
    given = mechanism.guarantee
    if not given.delta:
        return 0.0
    try:
        return chance_beyond(mechanism.privacy_profile().delta, given.epsilon)
    except InputError:
        return None


def _going_beyond(beyond: float | None) -> str:
    if beyond is None:
        return ""
    more = "The odds really change by more than this factor with a chance of"
    return f"{more} {chance(beyond)} at most. "


def _spent(mechanism: Mechanism, reports: int) -> Spent:
    """Return what ``reports`` reports cost together, by the mechanism's own losses if known."""
    given = mechanism.guarantee
    delta = max(given.delta, _SMALL_DELTA)
    spent = spent_together([Budget(given.epsilon, given.delta)] * reports, delta)
    if given.epsilon > MOST_EPSILON:
        return spent
    try:
        pairs = mechanism.loss_pairs()
    except InputError:
        return spent
    together = [replace(pair, copies=pair.copies * reports) for pair in pairs]
    return replace(spent, epsilon=min(spent.epsilon, composed_epsilon(together, delta)))


def returning_in_words(spent: Spent) -> str:
    """Say what this many reports cost; composed losses only where they make a difference."""
    basic, delta = float(spent.basic_epsilon), float(spent.basic_delta)
    closer = spent.epsilon < 0.99 * basic or delta >= 1
    ways = [(basic, delta)] if delta < 1 else []
    ways += [(spent.epsilon, spent.delta)] if closer else []
    limits = []
    for epsilon, failing in ways:
        if epsilon <= _LARGEST_EPSILON:
            reveals = f" and {chance(failing)} to be given away" if failing else ""
            limits.append(f"a factor of {odds(epsilon)} (ε = {at_most(epsilon, 4)}){reveals}")
    number = f"{spent.reports} report{'s' * (spent.reports != 1)}"
    return f"{number}: {', or '.join(limits) or 'no limit worth the name'}"


def _level(epsilon: float, delta: float) -> dict[str, float | None]:
    return {"epsilon": epsilon if math.isfinite(epsilon) else None, "delta": min(delta, 1.0)}
