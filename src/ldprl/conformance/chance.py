"""Where bytes are random: numbers and ids, the law of reports, and what they reveal."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.audit import audit
from ldprl.audit.neighbours import worst_pairs
from ldprl.conformance.program import Program, ProgramError
from ldprl.conformance.scripted import Scripted, running
from ldprl.conformance.subject import Check, Script, Subject, checked
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.mechanisms.total import Total
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.shape import Array, Shape

FAILURE = 1e-6
"""How likely each check is to accuse a client that does what it must."""
_EPISODES = 64
_NUMBER_BITS = 53


def shipped(program: Program, deployment: Deployment, built: Mechanism | None = None) -> Mechanism:
    """Return the deployment's mechanism, whose reports are the program's."""
    mechanism = deployment.built if built is None else built
    document = deployment.document

    def privatize_many(
        self: Mechanism, data: Any, assignment: Assignment, count: int, source: RandomSource
    ) -> Array:
        issued = Issued(deployment.digest, 0, 0, assignment).document(deployment.built)
        told = {"total": data.value} if isinstance(data, Total) else {"trajectory": _lists(data)}
        answer = program.call("draw", document=document, assignment=issued, count=count, **told)
        if "reports" not in answer:
            raise ProgramError("client", str(answer)[:200], "reports, in answer to draw")
        codec = deployment.built.codec(assignment)
        reports: Array = np.stack([codec.read(report) for report in answer["reports"]])
        return reports

    kind = type(mechanism)
    result = copy.copy(mechanism)
    result.__class__ = type(kind.__name__, (kind,), {"privatize_many": privatize_many})
    return result


def _lists(data: Any) -> Any:
    return {key: list(value) for key, value in vars(data).items()}


def privacy(subject: Subject) -> Iterator[Check]:
    """Yield an audit of each mechanism, by likelihood ratio and the attacks beside it."""
    for deployment in _one_each(subject):
        mechanism = shipped(subject.program, deployment)
        result = audit(mechanism, deployment.built.guarantee, subject.samples)
        name = f"privacy of {deployment.mechanism}"
        said = f"ε = {result.claimed.epsilon:g}: {result.strength}"
        yield Check(name, result.verdict == "holds", f"{result.verdict}, {said}")


def laws(subject: Subject) -> Iterator[Check]:
    """Yield whether reports have the law of Python's, counter by counter.

    By the Dvoretzky–Kiefer–Wolfowitz inequality two samples of n reports are nowhere further apart
    than 2√(ln(4c/α)/2n) in any of c distribution functions, but with probability α.
    """
    for deployment in _one_each(subject):
        mine, theirs = deployment.built, shipped(subject.program, deployment)
        apart, columns = 0.0, 0
        pair = worst_pairs(mine)[0]
        for user in (pair.first, pair.second):
            given = user, pair.assignment, subject.samples, SystemSource()
            found, wanted = (np.asarray(one.privatize_many(*given)) for one in (theirs, mine))
            columns += found.shape[1]
            apart = max(apart, _distance(found, _written(mine, pair.assignment, wanted)))
        most = 2 * math.sqrt(math.log(4 * columns / FAILURE) / (2 * subject.samples))
        said = f"{subject.samples:,} reports of two users, {apart:.3f} apart, at most {most:.3f}"
        power = f"any probability that is off by {2 * most:.2g} is found"
        yield Check(f"law of {deployment.mechanism}", apart <= most, f"{said}; {power}")


def _written(mechanism: Mechanism, assignment: Assignment, reports: Array) -> Array:
    codec = mechanism.codec(assignment)
    return np.stack([codec.read(codec.write(report)) for report in reports])


def _distance(found: Array, wanted: Array) -> float:
    """Return the largest distance of two columns' distribution functions."""
    largest = 0.0
    for one, other in zip(found.T, wanted.T, strict=True):
        points = np.union1d(one, other)
        sides = [np.searchsorted(np.sort(side), points, side="right") for side in (one, other)]
        largest = max(largest, float(np.abs(sides[0] / len(one) - sides[1] / len(other)).max()))
    return largest


def numbers(subject: Subject, served: Callable[[], Scripted], script: Script) -> Iterator[Check]:
    """Yield whether numbers and ids are fresh, and each of their bits a fair coin."""
    service = served()
    with running(service):
        for _ in range(_EPISODES):
            subject.take_part(service, script)
    ids = [json.loads(body).get("id", "") for body in service.bodies]
    drawn = {"numbers": (service.numbers, _NUMBER_BITS), "ids": ([int(i, 16) for i in ids], 128)}
    for name, (values, bits) in drawn.items():
        wrong = []
        if len(values) != _EPISODES or len({*values}) != _EPISODES:
            wrong.append(f"{len({*values})} different ones in {_EPISODES} episodes")
        elif stuck := [bit for bit in range(bits) if _is_odd([v >> bit & 1 for v in values], bits)]:
            wrong.append(f"bits {stuck[:10]} are no coins")
        done = f"{_EPISODES} different ones; a bit that is never or always 1 is found"
        yield checked(f"random {name}", wrong, done)


def _is_odd(coins: list[int], columns: int) -> bool:
    """Whether that many ones have less than α/columns in both tails of a fair coin, together."""
    count = len(coins)
    far = abs(2 * sum(coins) - count)
    ways: int = sum(math.comb(count, k) for k in range(count + 1) if abs(2 * k - count) >= far)
    return ways < FAILURE / columns * 2.0**count


def _one_each(subject: Subject) -> Iterator[Deployment]:
    """Yield a small deployment of each mechanism that the program supports."""
    cases = subject.deployments()
    for mechanism in dict.fromkeys(case["document"]["mechanism"] for case in cases):
        yield small(mechanism, cases)


def small(mechanism: str, cases: list[dict[str, Any]]) -> Deployment:
    """Return a deployment at ε = 2 with reports of few numbers."""
    for case in cases:
        found = Deployment.from_document(case["document"])
        if found.mechanism == mechanism and not isinstance(found.problem, Shape):
            return found
    return Deployment("chance", Shape(2, 2, 2), "2", mechanism)
