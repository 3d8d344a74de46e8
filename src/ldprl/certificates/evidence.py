"""Who is asked for a certificate, and what they answered: a function of plans and sums alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.certificates.caution import Served, exploring_share
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
    most_lost
        Which share of the incumbent's return users may lose by exploring, if it is limited.
    """

    share: float
    confidence: float
    scale: Scale
    incumbent: Policy | None = None
    most_lost: float | None = None


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
    explored
        Answers of users who were given what the learner tries, where the loss is limited.
    current
        Which policy is under certificate now; None if none is, or the incumbent itself.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.policies: list[Policy] = []
        self.bits: list[Bits] = []
        self.chosen_at: list[int] = []
        self.incumbent = Bits(0, 0)
        self.explored = Bits(0, 0)
        self.current: int | None = None
        self._kept_since = 0
        self._users = 0
        self._given: dict[int | None, int] = {}

    def note(self, users: int, plan: Plan) -> None:
        """Take note of a plan that was made from ``users`` users."""
        shown = [self._place(one.policy, users) for one in plan if is_certifying(one)]
        now = next((place for place in shown if place is not None), None)
        if now != self.current:
            self.current, self._kept_since = now, users

    def add(self, assignment: Assignment, users: int, tally: Array) -> None:
        """Count the users of a noted plan, and their answers if these are for a certificate."""
        self._users += users
        given = None if assignment.law is not None else assignment.policy
        place = None if given is None else self._known(given)
        safe = given is not None and _same(given, self.terms.incumbent)
        if place is not None or safe:
            self._given[place] = self._given.get(place, 0) + users
        if not is_asked(assignment):
            return
        told = Bits(users, _ones(assignment, tally))
        if place is not None:
            self.bits[place] += told
        elif safe:
            self.incumbent += told
        else:
            self.explored += told

    def asked(
        self,
        plan: Plan,
        users: int,
        best: Callable[[], Policy],
        batch: int = 1,
        ask: Callable[[Plan], Plan] = tuple,
    ) -> Plan:
        """Return ``plan`` with a share of its users given the policy under certificate.

        It is kept for a while, then ``best`` is asked for. The incumbent gets half of the share
        until it is certain which of the two is better: its users lose what the other one gains.

        Where the loss is limited, as many of the next ``batch`` users as may explore get this. The
        others get the best policy that is certain, and answer what the mechanism asks (``ask``).
        """
        policy, share = self._policy(users, best), self.terms.share
        rest = _scaled(plan, 1 - share)
        if self.terms.incumbent is None:
            return (*rest, certifying(policy, share))
        if self.terms.most_lost is not None:
            tried = (*rest, *_tried(plan, share / 2), certifying(policy, share / 2))
            return self._cautious(tried, batch, ask)
        shown = [policy] if self._decided(policy) else [policy, self.terms.incumbent]
        return rest + tuple(certifying(one, share / len(shown)) for one in shown)

    def _cautious(self, plan: Plan, batch: int, ask: Callable[[Plan], Plan]) -> Plan:
        """Return ``plan`` for the share of the users who may explore, a safe policy for others."""
        terms, own = self.terms, self.incumbent_certificate()
        assert terms.incumbent is not None
        assert terms.most_lost is not None
        assert own is not None
        better: dict[int | None, float] = {None: 0.0}
        for place in range(len(self.policies)):
            found = self.certificate(place).better
            assert found is not None
            better[place] = found.low
        safe = max(better, key=better.__getitem__)
        explored = incumbent_certificate(self.explored, terms.scale, terms.confidence).worth.low
        certified = [(users, better[place]) for place, users in self._given.items()]
        explore = exploring_share(
            terms.most_lost,
            Served(self._users, certified, explored),
            better[safe],
            (own.worth.low, own.worth.high),
            batch,
        )
        policy = terms.incumbent if safe is None else self.policies[safe]
        others = (*ask((Assignment(policy, 1 - terms.share),)), certifying(policy, terms.share))
        return _scaled(plan, explore) + _scaled(others, 1 - explore)

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
    return Assignment(policy, share, (Question(Worth(), 0, np.ones(policy.shape[1])),))


def is_certifying(assignment: Assignment) -> bool:
    """Whether the users of an assignment answer for the certificate of its policy."""
    return is_asked(assignment) and bool(assignment.questions[0].weights.any())


def is_asked(assignment: Assignment) -> bool:
    """Whether the users of an assignment are asked what it was worth."""
    return any(isinstance(question.what, Worth) for question in assignment.questions)


def _tried(plan: Plan, share: float) -> Plan:
    """Return the tables of ``plan`` once each, with the question what they were worth.

    Its answers have no weight for any policy: they tell what exploring costs.
    """
    by_table: dict[bytes | int, list[Assignment]] = {}
    for one in plan:
        key = id(one.law) if one.law is not None else one.policy.tobytes()
        by_table.setdefault(key, []).append(one)
    return tuple(
        replace(
            same[0],
            share=share * sum(one.share for one in same),
            questions=(Question(Worth(), 0, np.zeros(len(same[0].questions[0].weights))),),
        )
        for same in by_table.values()
    )


def _ones(assignment: Assignment, tally: Array) -> int:
    """Return how many bits are 1; under a law of tables they are told apart by (state, action)."""
    if assignment.law is None:
        return int(tally[1])
    shape = assignment.law.shape
    rows = shape.states * shape.actions
    by_row: Array = tally[: 2 * rows].reshape(shape.states, shape.actions, 2)
    return int(by_row[0, :, 1].sum())


def _scaled(plan: Plan, factor: float) -> Plan:
    return tuple(replace(one, share=factor * one.share) for one in plan)


def _same(one: Policy, other: Policy | None) -> bool:
    return other is not None and np.array_equal(one, other)
