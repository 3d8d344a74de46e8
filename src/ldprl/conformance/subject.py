"""What is tested: a client program, what it supports, and the vectors it is tested with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ldprl.conformance.program import Program
from ldprl.conformance.replayed import ReplayedSourceForTests, stream
from ldprl.conformance.scripted import Scripted
from ldprl.mechanisms.total import Total
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued

_PACKAGED = files("ldprl") / "conformance" / "vectors.json"
_CHECKOUT = Path(__file__).parents[3] / "clients" / "js" / "test" / "vectors.json"
NUMBER_BYTES = 7
"""Random bytes that a user's number is drawn from."""


class Check(NamedTuple):
    """One line of the result; None: it was not run."""

    name: str
    passed: bool | None
    detail: str


def checked(name: str, wrong: Sequence[str], done: str) -> Check:
    """Return a check that passed if nothing was ``wrong``; it says what was done, or wrong."""
    more = f" (and {len(wrong) - 2} more)" if len(wrong) > 2 else ""
    return Check(name, not wrong, "; ".join(wrong[:2]) + more if wrong else done)


@dataclass
class Script:
    """An episode: what the user sees at each step, and the rewards; who has fewer leaves."""

    seen: list[Any]
    rewards: list[float]
    terminated: bool = False


@dataclass
class Subject:
    """A program under test; ``samples`` reports of each user where chance is tested."""

    program: Program
    folder: Path
    samples: int
    supports: frozenset[str] = frozenset()
    vectors: dict[str, Any] = field(default_factory=dict)
    _ledgers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        source = _CHECKOUT if _CHECKOUT.exists() else _PACKAGED
        self.vectors = json.loads(source.read_text(encoding="utf-8"))

    def deployments(self) -> list[dict[str, Any]]:
        """Return the vectors' deployments that the program supports."""
        return [one for one in self.vectors["deployments"] if self.takes(one["document"])]

    def takes(self, document: Mapping[str, Any]) -> bool:
        """Whether the program says that it supports a deployment."""
        parts = {"shuffle": "relay", "certificate": "certificate", "structure": "structure"}
        needed = {document["mechanism"]} | {word for key, word in parts.items() if key in document}
        return needed <= self.supports

    def ledger(self) -> str:
        """Return an empty folder: another user's."""
        path = self.folder / str(next(self._ledgers))
        path.mkdir()
        return str(path)

    def take_part(self, service: Scripted, script: Script, **more: Any) -> dict[str, Any]:
        """Let the program take part in a service that runs."""
        given = {"url": service.url, "digest": service.digest, "ledger": self.ledger()}
        return self.program.call("take_part", **given | vars(script) | more)


def path_of(deployment: Deployment, turn: int = 0) -> Script:
    """Return a user who stays to the end, and sees other states or vectors at each turn."""
    problem, steps = deployment.problem, range(deployment.problem.horizon)
    if deployment.built.reads_return:
        wide = [[(7 * h + 3 * turn + i) % 11 - 5.0 for i in range(_raw(problem))] for h in steps]
        return Script(wide, [0.125 * ((h + turn) % 3) for h in steps])
    states = [(2 * h * (turn + 1) + turn) % deployment.shape.states for h in steps]
    return Script(states, [(0.0, 1.0, 0.1, 1 / 3)[(h + turn) % 4] for h in steps])


def _raw(problem: Any) -> int:
    return int(problem.features.raw)


class Expected(NamedTuple):
    """What follows from an assignment, a script and random bytes: from Python's own client."""

    actions: list[Any]
    values: list[int]
    used: int


def expected(deployment: Deployment, document: dict[str, Any], number: int, script: Script,
             source: ReplayedSourceForTests) -> Expected:  # fmt: skip
    """Return what a client must do that received ``document`` after it drew ``number``."""
    issued = Issued.from_document(document, deployment, number)
    mechanism, one = deployment.built, issued.assignment
    steps = range(min(len(script.rewards) + 1, deployment.problem.horizon, len(script.seen)))
    actions = [one.policy.act(h, script.seen[h]) for h in steps]
    ended = len(script.rewards) == deployment.problem.horizon
    data: Any = Trajectory.empty()
    if mechanism.reads_return:
        data = Total(sum(script.rewards) if ended or script.terminated else None)
    elif ended:
        data = Trajectory(script.seen, actions, script.rewards)
    values = mechanism.codec(one).write(mechanism.privatize(data, one, source))
    return Expected(json.loads(json.dumps(actions)), values, source.used)


def bytes_for(number: int, name: str) -> str:
    """Return random bytes, in hex, from which a client draws ``number`` and then its report."""
    start = (number << (8 * NUMBER_BYTES - MOST_POLICIES.bit_length() + 1)).to_bytes(
        NUMBER_BYTES, "little"
    )
    return stream(name, start, 20_000).content.hex()
