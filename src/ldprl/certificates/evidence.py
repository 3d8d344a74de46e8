"""Who is asked for a certificate, and what they answered: a function of plans and sums alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.certificates.certificate import Certificate, Scale, certificate, incumbent_certificate
from ldprl.certificates.sequence import Bits
from ldprl.questions.question import Question
from ldprl.questions.worth import Worth
from ldprl.shape import Array, Policy

_KEPT_UNTIL = 2
"""A policy stays under certificate until there are this many times as many users as when it was
chosen: few policies share the confidence, and the last one has about half of all answers."""


@dataclass(frozen=True)
class Terms:
    """What a certificate is to be.

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
    """

    share: float
    confidence: float
    scale: Scale
    incumbent: Policy | None = None


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
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.policies: list[Policy] = []
        self.bits: list[Bits] = []
        self.chosen_at: list[int] = []
        self.incumbent = Bits(0, 0)
        self.current: int | None = None
        self._kept_since = 0

    def note(self, users: int, plan: Plan) -> None:
        """Take note of a plan that was made from ``users`` users."""
        shown = [self._place(one.policy, users) for one in plan if is_certifying(one)]
        now = next((place for place in shown if place is not None), None)
        if now != self.current:
            self.current, self._kept_since = now, users

    def add(self, assignment: Assignment, users: int, tally: Array) -> None:
        """Add what users of a noted plan answered, if they were asked for a certificate."""
        if not is_certifying(assignment):
            return
        told, place = Bits(users, int(tally[1])), self._known(assignment.policy)
        if place is None:
            self.incumbent += told
        else:
            self.bits[place] += told

    def asked(self, plan: Plan, users: int, best: Callable[[], Policy]) -> Plan:
        """Return ``plan`` with a share of its users given the policy under certificate.

        It is kept for a while, then ``best`` is asked for. The incumbent gets half of the share
        until it is certain which of the two is better: its users lose what the other one gains.
        """
        policy = self._policy(users, best)
        shown, share = [policy], self.terms.share
        if self.terms.incumbent is not None and not self._decided(policy):
            shown.append(self.terms.incumbent)
        rest = tuple(replace(one, share=(1 - share) * one.share) for one in plan)
        return rest + tuple(certifying(one, share / len(shown)) for one in shown)

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

    def _policy(self, users: int, best: Callable[[], Policy]) -> Policy:
        if self.current is None or users >= _KEPT_UNTIL * self._kept_since:
            return best()
        return self.policies[self.current]

    def _decided(self, policy: Policy) -> bool:
        """Whether it is certain that the policy is better than the incumbent, or worse."""
        if _same(policy, self.terms.incumbent):
            return True
        known = self._known(policy)
        better = None if known is None else self.certificate(known).better
        return better is not None and (better.low > 0 or better.high < 0)

    def _place(self, policy: Policy, users: int) -> int | None:
        """Return a policy's number, a new one for a new policy; None for the incumbent."""
        known = self._known(policy)
        if known is not None or _same(policy, self.terms.incumbent):
            return known
        self.policies.append(policy)
        self.bits.append(Bits(0, 0))
        self.chosen_at.append(users)
        return len(self.policies) - 1

    def _known(self, policy: Policy) -> int | None:
        return next((i for i, one in enumerate(self.policies) if _same(one, policy)), None)


def certifying(policy: Policy, share: float) -> Assignment:
    """Return the assignment of users who are given ``policy`` and asked what it was worth."""
    question = Question(Worth(), 0, np.ones(policy.shape[1]))
    return Assignment(policy, share, (question,))


def is_certifying(assignment: Assignment) -> bool:
    """Whether the users of an assignment answer for a certificate."""
    return any(isinstance(question.what, Worth) for question in assignment.questions)


def _same(one: Policy, other: Policy | None) -> bool:
    return other is not None and np.array_equal(one, other)
