"""Who is asked for a certificate, and what they answered: a function of plans and sums alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.certificates.caution import NOBODY, cautious_shares, most_short
from ldprl.certificates.certificate import (
    Certificate,
    Scale,
    certificate,
    failure_of,
    incumbent_certificate,
)
from ldprl.certificates.change import Change, changed_at
from ldprl.certificates.sequence import Bits, Interval
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.threshold import CELLS
from ldprl.mechanisms.questions.worth import Worth
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import Array
from ldprl.statistics import kept_from

_KEPT_UNTIL = 2
"""A policy stays under certificate until there are this many times as many users as when it was
chosen: few policies share the confidence, and the last one has about half of all answers."""


AnyPolicy = Any
"""A policy, or the actions of a table."""


def certifying(policy: AnyPolicy, share: float) -> Assignment:
    """Return the assignment of users who are given ``policy`` and asked what it was worth."""
    plain = Assignment(policy, share)
    if isinstance(plain.policies, ParametricPolicy):
        return ThresholdBits.about(plain.policies, share)
    return Assignment(policy, share, (Question(Worth(), 0, np.ones(plain.table.shape[1])),))


def is_certifying(assignment: Assignment) -> bool:
    """Whether the users of an assignment answer for the certificate of its policy."""
    if isinstance(assignment.policies, Perturbed):
        return assignment.policies.is_one
    first = assignment.questions[0] if assignment.questions else None
    return first is not None and isinstance(first.what, Worth) and bool(first.weights.any())


def certified(assignment: Assignment) -> AnyPolicy:
    """Return the policy that the users of a certifying assignment are given."""
    law = assignment.policies
    if isinstance(law, Perturbed):
        return ParametricPolicy(law.problem, law.mean.astype(np.float64))
    return assignment.table


def answered_yes(assignment: Assignment, tally: Array) -> int:
    """Return how many of the users of a certifying assignment reported a 1."""
    if isinstance(assignment.policies, Perturbed):
        return int(tally[CELLS : 2 * CELLS].sum())
    return int(tally[1])


def key_of(policy: AnyPolicy) -> bytes:
    """Return what equal policies have in common, and no others."""
    return Assignment(policy).policy.key


@dataclass(frozen=True)
class Terms:
    """Certificate settings.

    Attributes
    ----------
    share
        Which share of the users answers for it.
    confidence
        How likely its intervals are to hold, at all times at once.
    scale
        What a randomized bit says about the return.
    incumbent
        The policy that users had before there was a learner, if it is known.
    most_lost
        Which share of what the incumbent brings above the least return users may lose by
        exploring, if it is limited.
    alarm
        Probability of ever raising a false alarm; None if changes are not looked for.
    memory
        The number of latest users from whom plans are made, and among whom changes are looked
        for; None: all.
    since
        Changes are looked for under plans that were made from this many users, or more.
    """

    share: float
    confidence: float
    scale: Scale
    incumbent: AnyPolicy | None = None
    most_lost: float | None = None
    alarm: float | None = None
    memory: int | None = None
    since: int = 0


class Evidence:
    """The answers about each policy that was ever under certificate.

    Attributes
    ----------
    policies, bits
        Without the incumbent, in the order in which they were first put under certificate.
    incumbent
        The incumbent's answers.
    chosen_at
        How many users there were when each of them was first put under certificate.
    current
        Which policy is under certificate now; None if none is, or the incumbent itself.
    blocks
        The answers about each policy, the incumbent as None, by how many users the plan was made
        from under which it was handed out.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.policies: list[AnyPolicy] = []
        self.bits: list[Bits] = []
        self.chosen_at: list[int] = []
        self.incumbent = Bits(0, 0)
        self.current: int | None = None
        self.blocks: dict[int | None, dict[int, Bits]] = {}
        self._kept_since = 0
        self._made_from = 0
        self._served: dict[int, int] = {}
        self._numbers: dict[bytes, int | None] = {}
        if terms.incumbent is not None:
            self._numbers[key_of(terms.incumbent)] = None

    def note(self, users: int, plan: Plan) -> None:
        """Take note of a plan that was made from ``users`` users."""
        shown = [self._place(certified(one), users) for one in plan if is_certifying(one)]
        now = next((place for place in shown if place is not None), None)
        if now != self.current:
            self.current, self._kept_since = now, users
        self._made_from = users
        self._served.setdefault(users, 0)
        # Before the first answer comes, as the number of a block must not depend on answers.
        for one in filter(is_certifying, plan):
            self._count(one, Bits(0, 0))

    def add(self, assignment: Assignment, users: int, tally: Array) -> None:
        """Count the users of a noted plan, and their answers if these are for a certificate."""
        self._served[self._made_from] = self._served.get(self._made_from, 0) + users
        if is_certifying(assignment):
            self._count(assignment, Bits(users, answered_yes(assignment, tally)))

    def _count(self, assignment: Assignment, answers: Bits) -> None:
        """Add answers about what an assignment of the last plan was worth."""
        place = self._numbers[key_of(certified(assignment))]
        if place is None:
            self.incumbent += answers
        else:
            self.bits[place] += answers
        blocks = self.blocks.setdefault(place, {})
        blocks[self._made_from] = blocks.get(self._made_from, Bits(0, 0)) + answers

    def asked(
        self,
        plan: Plan,
        users: int,
        best: Callable[[], AnyPolicy],
        ask: Callable[[Plan], Plan] = tuple,
    ) -> Plan:
        """Return ``plan`` with a share of its users given the policy under certificate.

        It is kept for a while, then ``best`` is asked for. The incumbent gets half of the share
        until it is certain which of the two is better, but without an alarm never more answers than
        the policy: its users lose what the other one gains.

        Where the loss is limited, as many users get this as may explore. The others get the best
        policy that is certain, and answer what the mechanism asks (``ask``).
        """
        policy, share = self._policy(users, best), self.terms.share
        if self.terms.most_lost is not None:
            return self._cautious(plan, policy, ask)
        rest = _scaled(plan, 1 - share)
        if self.terms.incumbent is None:
            return (*rest, certifying(policy, share))
        shown = [policy] if self._compared(policy) else [policy, self.terms.incumbent]
        return rest + tuple(certifying(one, share / len(shown)) for one in shown)

    def _cautious(self, plan: Plan, candidate: AnyPolicy, ask: Callable[[Plan], Plan]) -> Plan:
        """Return ``plan`` for the users who may explore, a safe policy for the others."""
        terms, own = self.terms, self.incumbent_certificate()
        assert terms.incumbent is not None
        assert terms.most_lost is not None
        assert own is not None
        least = terms.scale.least
        above = Interval(own.worth.low - least, own.worth.high - least)
        short: dict[bytes, float] = {key_of(terms.incumbent): 0.0}
        for place, policy in enumerate(self.policies):
            found = self.certificate(place).better
            assert found is not None
            short[key_of(policy)] = most_short(found.low, above)
        safe = min(short, key=short.__getitem__)
        number = self._numbers[safe]
        policy = terms.incumbent if number is None else self.policies[number]
        others = (*ask((Assignment(policy, 1 - terms.share),)), certifying(policy, terms.share))
        shares = cautious_shares(
            terms.most_lost,
            self.users,
            1 - terms.confidence,
            short[safe],
            short.get(key_of(candidate), 1.0),
            0.0 if key_of(candidate) == safe else terms.share,
        )
        if shares == NOBODY:
            return others
        # The candidate comes first: of all that is certified, it is the current policy.
        tried = () if shares.candidate == 0 else (certifying(candidate, shares.candidate),)
        return _scaled(plan, shares.exploring) + tried + _scaled(others, 1 - sum(shares))

    def certificate(self, place: int) -> Certificate:
        """Return the certificate of ``policies[place]``."""
        terms = self.terms
        incumbent = None if terms.incumbent is None else self.incumbent
        return certificate(self.bits[place], place + 1, terms.scale, terms.confidence, incumbent)

    def incumbent_certificate(self) -> Certificate | None:
        """Return the incumbent's own certificate."""
        if self.terms.incumbent is None:
            return None
        return incumbent_certificate(self.incumbent, self.terms.scale, self.terms.confidence)

    @property
    def users(self) -> int:
        """All users so far, whatever they were asked."""
        return sum(self._served.values())

    def change(self) -> Change | None:
        """Return the latest change within the memory; None if it may be that there was none.

        The j-th series of answers, the incumbent's first, has a share 1/(j(j + 1)) of the alarm,
        and of that the stretch from its i-th block on a share 1/(i(i + 1)).
        """
        if self.terms.alarm is None:
            return None
        first = [] if self.terms.incumbent is None else [None]
        plans, users = list(self._served), list(self._served.values())
        remembered = min(plans[kept_from(users, self.terms.memory) :], default=0)
        since = max(remembered, self.terms.since)
        found = []
        for place, policy in enumerate([*first, *range(len(self.policies))], 1):
            every = self.blocks.get(policy, {})
            blocks = {made_from: bits for made_from, bits in every.items() if made_from >= since}
            answers = list(blocks.values())
            start = len(every) - len(blocks) + 1
            at = changed_at(answers, failure_of(start, failure_of(place, self.terms.alarm)))
            if at is not None:
                early, late = sum(answers[:at], Bits(0, 0)), sum(answers[at:], Bits(0, 0))
                worth = self.terms.scale.estimate
                found.append(Change(policy, list(blocks)[at], worth(early), worth(late)))
        return max(found, key=lambda change: change.since, default=None)

    def _policy(self, users: int, best: Callable[[], AnyPolicy]) -> AnyPolicy:
        until = _KEPT_UNTIL * self._kept_since
        if self.terms.memory is not None:
            # Nobody who chose it is remembered after that.
            until = min(until, self._kept_since + self.terms.memory)
        if self.current is None or users >= until:
            return best()
        return self.policies[self.current]

    def _compared(self, policy: AnyPolicy) -> bool:
        """Whether the incumbent need not be asked: it is decided, or the policy has fewer answers.

        With an alarm it is asked anyway: only its answers continue while policies change.
        """
        place = self._numbers.get(key_of(policy), len(self.policies))
        if place is None:
            return True
        answers = self.bits[place].users if place < len(self.bits) else 0
        if answers < self.incumbent.users and self.terms.alarm is None:
            return True
        if answers == 0:
            return False
        better = self.certificate(place).better
        return better is not None and (better.low > 0 or better.high < 0)

    def _place(self, policy: AnyPolicy, users: int) -> int | None:
        """Return a policy's number, a new one for a new policy; None for the incumbent."""
        key = key_of(policy)
        if key not in self._numbers:
            self._numbers[key] = len(self.policies)
            self.policies.append(policy)
            self.bits.append(Bits(0, 0))
            self.chosen_at.append(users)
        return self._numbers[key]


def _scaled(plan: Plan, factor: float) -> Plan:
    return tuple(replace(one, share=factor * one.share) for one in plan)
