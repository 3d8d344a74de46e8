"""A plan with a table for each user is served as a law: small to store, and small in memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import Assignment, InputError, Learner, Shape, Statistics, Trajectory
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.partition import Partition
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, longest_report, report_document
from ldprl.service import planner, plans
from ldprl.service.causes import RejectionError
from ldprl.service.intake import Report
from ldprl.service.plans import plan_from, plan_text
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

USERS = 40
SHAPE = Shape(700, 4, 5)


class RandomTables(Learner):
    """Gives every user a random table, and asks for a reward; two assignments, two laws."""

    name = "random-tables"
    summary = "for tests"
    private = True

    def __init__(self, *, in_groups: bool = False) -> None:
        self.in_groups = in_groups

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        shape = statistics.shape
        even = np.full((1, shape.states, shape.actions), 1 / shape.actions)
        where = None
        if self.in_groups:
            where = Partition(np.arange(shape.states) % 2)
            even = np.full((shape.horizon, 2, shape.actions), 1 / shape.actions)
        seeds = [rng.bytes(16).hex() for _ in range(2)]
        laws = [TableDistribution.of(shape, even, seed, where) for seed in seeds]
        asked = [Question(Reward(), h, np.ones(shape.states)) for h in (0, shape.horizon - 1)]
        pairs = zip(laws, (0.25, 0.75), asked, strict=True)
        return tuple(Assignment(law, share, (question,)) for law, share, question in pairs)


def served(monkeypatch: pytest.MonkeyPatch, path: Path, shape: Shape, **how: Any) -> Service:
    monkeypatch.setattr(planner, "learner_of", lambda deployment: RandomTables(**how))
    deployment = Deployment(
        "law",
        shape,
        "2",
        mechanism="subset-selection",
        options={"layout": "separate", "answers": 1},
    )
    service = Service(ServiceSettings(deployment, f"sqlite:///{path}/law.sqlite"), lambda: 3.6e9)
    service.prepare()
    return service


def report_of(service: Service, report_id: str, rng: np.random.Generator) -> dict[str, Any]:
    """Play one user's episode from the bytes that the service hands out."""
    published, deployment = service.view.current, service.deployment
    own, index = (
        int(report_id, 16) % MOST_POLICIES,
        published.drawn(report_id, service.database.secret),
    )
    received = published.response(index, own)
    issued = Issued.from_document(json.loads(received), deployment, own)
    policy, shape = issued.assignment.table, deployment.shape
    states = rng.integers(shape.states, size=shape.horizon).tolist()
    actions = [int(policy[h, state]) for h, state in enumerate(states)]
    trajectory = Trajectory(states, actions, rng.integers(2, size=shape.horizon).tolist())
    report = deployment.built.privatize(
        trajectory, issued.assignment, InsecureSource(int(rng.integers(2**31)))
    )
    values = deployment.built.codec(issued.assignment).write(report)
    return json.loads(json.dumps(report_document(report_id, issued, values)))  # type: ignore[no-any-return]


def test_a_table_for_each_user_takes_the_room_of_one_law(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """At S = 700: 2⁵³ tables, stored in 100 kB, served and added up within 60 MB."""
    service = served(monkeypatch, tmp_path, SHAPE)
    (stored,) = service.database.plans(0)
    assert len(stored.assignments) < 100_000
    assert plan_text(plan_from(stored.assignments, service.deployment.built)) == stored.assignments
    lengths = [one.length for one in service.view.current.codecs]
    assert lengths == [700 * 4 * 3] * 2
    rng = np.random.default_rng(0)
    reports = []
    tracemalloc.start()
    for number in range(USERS):
        document = report_of(service, f"{number:032x}", rng)
        reports.append(document)
        admitted = service.intake._admit(Report(**document), service.view)
        assert service.database.commit([admitted], {}) == ["counted"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6
    assert len({(report["assignment"], report["number"]) for report in reports}) > USERS / 2
    sums = service.database.sums()
    assert sum(one.users for one in sums) == USERS
    assert sum(one.tally.nbytes for one in sums) == 2 * 8 * 700 * 4 * 3
    found = service.decoder.statistics(sums)
    plan, mechanism = service.view.current.plan, service.deployment.built
    expected = np.zeros_like(found.rewards)
    for report in reports:
        received = plan[report["assignment"]].drawn(report["number"])
        tally = mechanism.codec(received).read(report["values"])
        expected += mechanism.decode(tally, 1, received).rewards
    np.testing.assert_allclose(found.rewards, expected, atol=1e-8)
    service.database.close()


def test_the_last_table_is_one_and_reports_have_room_for_its_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    service = served(monkeypatch, tmp_path, Shape(30, 5, 2))
    current, deployment = service.view.current, service.deployment
    (stored,) = service.database.plans(0)
    last = MOST_POLICIES - 1
    assert current.has(0, 0)
    assert current.has(0, last)
    for number in (-1, MOST_POLICIES, None):
        assert not current.has(0, number)
    monkeypatch.setattr(plans, "_PADDING", 1)
    lengths = [
        longest_report(Issued(deployment.digest, 1, index, one, last), current.codecs[index])
        for index, one in enumerate(current.plan)
    ]
    assert plans.report_bytes(stored, current.plan, deployment) == max(lengths)
    service.database.close()


@pytest.mark.parametrize(
    ("shape", "form"), [(Shape(30, 5, 2), "policy"), (Shape(100, 2, 5), "law")]
)
def test_a_user_gets_the_table_or_the_law_whichever_is_shorter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shape: Shape, form: str
) -> None:
    service = served(monkeypatch, tmp_path, shape, in_groups=form == "law")
    published = service.view.current
    index, number = published.drawn("0" * 32, service.database.secret), 2**52 + 1
    document = json.loads(published.response(index, number))
    assert document["number"] == number
    assert ("policy" in document, "law" in document) == (form == "policy", form == "law")
    law = published.plan[index].law
    assert law is not None
    issued = Issued.from_document(document, service.deployment, number)
    for other in (number + 1, None):
        with pytest.raises(InputError, match="which this user drew"):
            Issued.from_document(document, service.deployment, other)
    with pytest.raises(InputError, match="number"):
        published.response(index, -1)
    assert np.array_equal(issued.assignment.table, law.table(number))
    whole = json.loads(published.whole)
    assert [sorted(part) for part in whole["assignments"]] == [["law", "questions", "share"]] * 2
    service.database.close()


def test_a_report_names_a_number_that_its_user_can_have_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    service = served(monkeypatch, tmp_path, Shape(6, 2, 2))
    good = report_of(service, "a" * 32, np.random.default_rng(0))
    for number in (good["number"], 0, MOST_POLICIES - 1):
        service.intake._admit(Report(**good | {"number": number}), service.view)
    for number in (MOST_POLICIES, -1, None):
        with pytest.raises(RejectionError) as refused:
            service.intake._admit(Report(**good | {"number": number}), service.view)
        assert refused.value.cause == "wrong-assignment"
    service.database.close()
