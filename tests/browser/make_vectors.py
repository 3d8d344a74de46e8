"""Writes clients/js/test/vectors.json: random bytes in, values out, as Python has them.

Run ``python -m tests.browser.make_vectors`` after a change of the format; clients in other
languages must then agree with the new file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ldprl import Shape, Trajectory
from ldprl.assignment import Assignment
from ldprl.conformance.replayed import stream, used
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.sampling import discrete_laplace, round_to_grid
from ldprl.partition import Partition
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.certificate import Certified
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.labels import Labels
from ldprl.protocol.messages import Issued
from ldprl.shape import Policy
from ldprl.structure import Structure
from tests.browser.ledger_vectors import ledger_vectors
from tests.browser.threshold_vectors import DEPLOYMENTS as WITH_THRESHOLDS
from tests.browser.threshold_vectors import refusals as hostile
from tests.browser.threshold_vectors import reports as threshold_reports

VECTORS = Path(__file__).parents[2] / "clients" / "js" / "test" / "vectors.json"
_SUBSETS = "subset-selection"

_WORDS = Labels('Žluťoučký kůň 🐎 "quoted" \\', ("低", "mid", "🎲"), ("buy", "sell"), "gain in €")
DEPLOYMENTS = [
    Deployment("words", Shape(3, 2, 4), "2", labels=_WORDS, options={"layout": "separate"}),
    Deployment("joint", Shape(2, 2, 3), "20", options={"layout": "joint", "answers": 1}),
    Deployment("one step", Shape(5, 3, 1), "0.37", _SUBSETS, options={"layout": "separate"}),
    Deployment("one joint step", Shape(3, 2, 1), "0.37", options={"layout": "joint"}),
    Deployment(
        "each step",
        Shape(4, 2, 3, step_dependent=True),
        "0.2",
        _SUBSETS,
        options={"layout": "separate"},
    ),
    Deployment(
        "one state",
        Shape(1, 2, 2),
        "700",
        _SUBSETS,
        options={"layout": "separate", "answers": 1},
    ),
    Deployment("two answers", Shape(3, 2, 4), "6", options={"layout": "separate", "answers": 2}),
    Deployment("joint answers", Shape(2, 2, 3), "7", options={"layout": "joint", "answers": 3}),
    Deployment("returns", Shape(3, 2, 4), "2", "return-bits", learner="ldp-returns"),
    Deployment("moves", Shape(3, 2, 4), "2", "bits-and-moves", learner="ldp-ways"),
    Deployment("no moves", Shape(1, 2, 4), "2", "bits-and-moves"),
    Deployment(
        "certified",
        Shape(3, 2, 4),
        "2",
        certificate=Certified("0.1", "0.95"),
        structure=Structure.from_document({"incumbent": [0, 1, 1]}, Shape(3, 2, 4)),
    ),
    Deployment("laplace", Shape(2, 2, 2), "2", "laplace"),
    Deployment("laplace each step", Shape(2, 2, 3, step_dependent=True), "0.2", "laplace"),
    Deployment("laplace alone", Shape(1, 1, 3), "0.37", "laplace"),
    Deployment("laplace loud", Shape(2, 1, 1), "20", "laplace"),
    # Scales whose numerators exceed 32 and 63 bits.
    Deployment("laplace long", Shape(2, 1, 2), "0.123456789012345", "laplace"),
    Deployment("laplace longest", Shape(2, 1, 4), "0.012345678901234567", "laplace"),
    Deployment("bits", Shape(3, 2, 3), "2", "randomized-response"),
    Deployment("bits loud", Shape(2, 2, 2), "20", "randomized-response"),
    Deployment("bits each step", Shape(2, 2, 3, step_dependent=True), "0.2", "randomized-response"),
    Deployment("bits of one step", Shape(2, 2, 1), "0.37", "randomized-response"),
    Deployment("bits alone", Shape(1, 1, 3), "2", "randomized-response"),
]
"""Every mechanism that clients share, in shapes that leave out or double a block."""

KEPT_TO = Deployment(
    "kept to",
    Shape(3, 3, 2),
    "2",
    "return-bits",
    learner="ldp-returns",
    structure=Structure.from_document({"admissible": [[0, 2], [1], [1, 2]]}, Shape(3, 3, 2)),
)
"""States which actions are admissible: clients refuse tables, and laws of tables, with others."""

_REWARDS = [(0.0, 1.0), (0.1, 0.5), (5e-324, 1 - 2**-53), (1 / 3, 1e-9)]


def vectors() -> dict[str, Any]:
    """Return everything that the file holds."""
    return {
        "samplers": [*_below_many(), *_discrete_laplace(), *_reward_bits()],
        "tables": list(_tables()),
        "ledgers": list(ledger_vectors()),
        "deployments": [
            {
                "document": deployment.document,
                "digest": deployment.digest,
                "reports": list(_reports_of(deployment)),
            }
            for deployment in DEPLOYMENTS + WITH_THRESHOLDS
        ],
        "hostile": hostile(),
        "refusals": {"document": KEPT_TO.document, "assignments": list(_refusals())},
    }


def text() -> str:
    """Return the file's content, a line for each vector."""
    lines = json.dumps(vectors(), ensure_ascii=False, separators=(",", ":"))
    for opening in (
        '{"call":',
        '{"shape":{"states":',
        '{"budget":',
        '{"document":',
        '{"assignment":{',
        '{"field":',
    ):
        lines = lines.replace(opening, "\n" + opening)
    return lines + "\n"


def _below_many() -> Iterator[dict[str, Any]]:
    bounds = [1, 2, 3, 10, 3628800, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1]
    bounds += [3 * 2**60, 2**63 - 1, 2**63, 2**63 + 1, 2**64, 10**30]
    for bound in bounds:
        # Zeros are drawn again by Lemire's rule; ones are too large for the shifted words.
        for first in (b"", bytes(8), b"\xff" * 8):
            source = stream(f"below {bound}", first)
            values = [str(value) for value in source.below_many(bound, 5)]
            yield {
                "call": "below_many",
                "bound": str(bound),
                "count": 5,
                "bytes": used(source),
                "values": values,
            }


def _discrete_laplace() -> Iterator[dict[str, Any]]:
    # 1000·10! < 2³², so 1000 draws 0 from below 10!: all of the first ten coins succeed.
    long_run = bytes(3 * 8) + (1000).to_bytes(4, "little") * 6 + bytes(2 * 8)
    scales = [Fraction(5), Fraction(29, 10), Fraction(1, 20), Fraction(10**12, 7)]
    scales += [Fraction(10**18 + 1, 10**16), Fraction(10**20 + 1, 10**17)]
    for scale in scales:
        for first in (b"", long_run):
            source = stream(f"laplace {scale}", first)
            values = [str(value) for value in discrete_laplace(source, scale, 6)]
            yield {
                "call": "discrete_laplace",
                "numerator": str(scale.numerator),
                "denominator": str(scale.denominator),
                "count": 6,
                "bytes": used(source),
                "values": values,
            }


def _reward_bits() -> Iterator[dict[str, Any]]:
    for reward in (0.0, 1.0, 0.5, 0.75, 0.1, 1 / 3, 1e-9, 1 - 2**-53, 2**-1022, 5e-324):
        for first in (b"", bytes(135), b"\xff" * 135):
            source = stream(f"reward {reward}", first)
            values = [str(round_to_grid(source, reward, 1))]
            yield {"call": "reward_bit", "reward": reward, "bytes": used(source), "values": values}


def _tables() -> Iterator[dict[str, Any]]:
    """Return tables of laws: by step and not, by group and not, with a certain action, with one."""
    rng = np.random.default_rng(5)
    two = Partition(np.array([1, 0, 1, 1, 0]))
    for shape, steps, where in [
        (Shape(3, 2, 4), 1, None),
        (Shape(3, 4, 5), 5, None),
        (Shape(3, 2, 4), 3, None),
        (Shape(5, 3, 2), 2, two),
        (Shape(2, 1, 2), 1, None),
        (Shape(40, 25, 3), 1, None),
    ]:
        cells = shape.states if where is None else where.count
        chances = rng.dirichlet(np.ones(shape.actions), (steps, cells))
        chances[0, 0] = np.eye(shape.actions)[-1]
        law = TableDistribution.of(shape, chances, rng.bytes(16).hex(), where)
        for number in (0, 1, 2**32 + 7, MOST_POLICIES - 1):
            yield {
                "shape": {name: getattr(shape, name) for name in ("states", "actions", "horizon")},
                "law": law.document(),
                "number": number,
                "table": law.table(number).tolist(),
            }


def _refusals() -> Iterator[dict[str, Any]]:
    """Return assignments that a client refuses, with what it says; the first one is taken."""
    mechanism, shape = KEPT_TO.built, KEPT_TO.shape
    question = Question(Return(0, 2 * UNIT), 0, np.ones(shape.states))
    good, late = np.array([[0, 1, 2], [2, 1, 1]]), np.array([[0, 1, 2], [2, 1, 0]])
    chances = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    drawn = TableDistribution.of(shape, np.stack([chances, chances[[0, 0, 2]]]), "0" * 32)
    one_row = {"policy": [[0, 1, 0]], "number": 3}
    cases: list[tuple[Policy | TableDistribution, dict[str, Any], tuple[str, int, str] | None]] = [
        (good, {}, None),
        (TableDistribution.of(shape, chances[None], "0" * 32), {"number": 5}, None),
        (late, {}, ("policy[1, 2]", 0, "an admissible action of state 2: 1, 2")),
        (good, one_row, ("policy[0, 2]", 0, "an admissible action of state 2: 1, 2")),
        (drawn, {"number": 5}, ("law.weights[1, 1]", 0, "an admissible action of state 1: 1")),
    ]
    for tables, changes, said in cases:
        issued = Issued(KEPT_TO.digest, 7, 0, Assignment(tables, questions=(question,)))
        field, value, expected = (None,) * 3 if said is None else said
        document = issued.document(mechanism) | changes
        said_by = {"field": field, "value": value, "expected": expected}
        yield said_by | {"assignment": document, "number": document.get("number")}


def _reports_of(deployment: Deployment) -> Iterator[dict[str, Any]]:
    is_table = isinstance(deployment.problem, Shape)
    return _reports(deployment) if is_table else threshold_reports(deployment)


def _reports(deployment: Deployment) -> Iterator[dict[str, Any]]:
    for index, assignment in enumerate(_assignments(deployment)):
        mechanism = deployment.built
        for number, trajectory in enumerate(_trajectories(deployment.shape, assignment)):
            source = stream(f"{deployment.digest} {index} {number}")
            report = mechanism.privatize(trajectory, assignment, source)
            issued = Issued(deployment.digest, 7 + number, index, assignment)
            yield {
                "assignment": issued.document(mechanism),
                "trajectory": {
                    "states": list(trajectory.states),
                    "actions": list(trajectory.actions),
                    "rewards": list(trajectory.rewards),
                },
                "bytes": used(source),
                "values": mechanism.codec(assignment).write(report),
            }


def _assignments(deployment: Deployment) -> Iterator[Assignment]:
    shape = deployment.shape
    steps, states = np.ogrid[: shape.horizon, : shape.states]
    policy = (steps + 2 * states + 1) % shape.actions
    asked = deployment.built.askable()
    if not asked:
        yield Assignment(policy)
    if any(what.kind == "return" for what, _ in asked):
        # Narrow and wide, at an end of the returns and inside.
        for low, high in [
            (0, 1),
            (UNIT // 3, 2 * UNIT),
            (UNIT, 4 * UNIT),
            (3 * UNIT - 7, 3 * UNIT),
        ]:
            question = Question(Return(low, high), 0, np.ones(shape.states))
            yield Assignment(policy, 1.0, (question,))
    for index in range(len(asked)):
        # The next questions on the list, except those about a step that is asked about already.
        chosen: dict[int, Observable] = {}
        for what, step in asked[index:] + asked[:index]:
            chosen.setdefault(step, what)
        few = list(chosen.items())[: deployment.built.answers]
        weights = np.ones(shape.states)
        yield Assignment(policy, 1.0, tuple(Question(what, step, weights) for step, what in few))


def _trajectories(shape: Shape, assignment: Assignment) -> Iterator[Trajectory]:
    """Return users who follow the policy, one who leaves it in the end, and one who stopped."""
    steps = range(shape.horizon)
    for rewards in _REWARDS:
        states = [(2 * h + len(str(rewards))) % shape.states for h in steps]
        actions = [int(assignment.table[h, states[h]]) for h in steps]
        yield Trajectory(states, actions, [rewards[h % 2] for h in steps])
    actions = [*actions[:-1], (actions[-1] + 1) % shape.actions]
    yield Trajectory(states, actions, [1.0] * shape.horizon)
    yield Trajectory.empty()


if __name__ == "__main__":
    VECTORS.write_text(text(), encoding="utf-8")
