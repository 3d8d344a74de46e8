"""A plan with thousands of tables is served as a law: small to store, and small in memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import Assignment, Learner, Shape, Statistics, Trajectory
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.partition import Partition
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, longest_report, report_document
from ldprl.service import planner, plans
from ldprl.service.causes import RejectionError
from ldprl.service.intake import Report
from ldprl.service.plans import plan_from, plan_text
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

TABLES = 4096
USERS = 40
SHAPE = Shape(700, 4, 5)


class RandomTables(Learner):
    """Gives every user a random table, and asks for a reward; two assignments, two laws."""

    name = "random-tables"
    summary = "for tests"
    private = True

    def __init__(self, tables: int = TABLES, *, in_groups: bool = False) -> None:
        self.tables, self.in_groups = tables, in_groups

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        shape = statistics.shape
        even = np.full((1, shape.states, shape.actions), 1 / shape.actions)
        where = None
        if self.in_groups:
            where = Partition(np.arange(shape.states) % 2)
            even = np.full((shape.horizon, 2, shape.actions), 1 / shape.actions)
        seeds = [rng.bytes(16).hex() for _ in range(2)]
        laws = [TableDistribution.of(shape, even, seed, self.tables, where) for seed in seeds]
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
    """Live one user's life from the bytes that the service hands out."""
    published, deployment = service.view.current, service.deployment
    received = published.response(*published.drawn(report_id, service.database.secret))
    issued = Issued.from_document(json.loads(received), deployment)
    policy, shape = issued.assignment.table, deployment.shape
    states = rng.integers(shape.states, size=shape.horizon).tolist()
    actions = [int(policy[h, state]) for h, state in enumerate(states)]
    lived = Trajectory(states, actions, rng.integers(2, size=shape.horizon).tolist())
    report = deployment.built.privatize(
        lived, issued.assignment, InsecureSource(int(rng.integers(2**31)))
    )
    values = deployment.built.codec(issued.assignment).write(report)
    return json.loads(json.dumps(report_document(report_id, issued, values)))  # type: ignore[no-any-return]


def test_thousands_of_tables_take_the_room_of_one_law(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """At S = 700: 4,096 tables, stored in 100 kB, served and added up within 60 MB."""
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
    assert len({(report["assignment"], report["table"]) for report in reports}) > USERS / 2
    sums = service.database.sums()
    assert sum(one.users for one in sums) == USERS
    assert sum(one.tally.nbytes for one in sums) == 2 * 8 * 700 * 4 * 3
    found = service.decoder.statistics(sums)
    plan, mechanism = service.view.current.plan, service.deployment.built
    expected = np.zeros_like(found.rewards)
    for report in reports:
        received = plan[report["assignment"]].drawn(report["table"])
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
    law = current.plan[0].law
    assert law is not None
    last = law.count - 1
    assert current.has(0, 0)
    assert current.has(0, last)
    for table in (-1, law.count, None):
        assert not current.has(0, table)
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
    index, number = published.drawn("0" * 32, service.database.secret)
    document = json.loads(published.response(index, number))
    assert document["table"] == number
    assert ("policy" in document, "law" in document) == (form == "policy", form == "law")
    law = published.plan[index].law
    assert law is not None
    assert number is not None
    issued = Issued.from_document(document, service.deployment)
    assert np.array_equal(issued.assignment.table, law.table(number))
    whole = json.loads(published.whole)
    assert [sorted(part) for part in whole["assignments"]] == [["law", "questions", "share"]] * 2
    service.database.close()


def test_a_report_must_name_the_table_that_its_id_was_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    service = served(monkeypatch, tmp_path, Shape(6, 2, 2), tables=50)
    good = report_of(service, "a" * 32, np.random.default_rng(0))
    service.intake._admit(Report(**good), service.view)
    for table in (good["table"] + 1, -1, None):
        with pytest.raises(RejectionError) as refused:
            service.intake._admit(Report(**good | {"table": table}), service.view)
        assert refused.value.cause == "wrong-assignment"
    service.database.close()


def test_tables_are_drawn_evenly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each of 4 tables by 1/4, within 6 standard errors; what else the id decides is not tied."""
    service = served(monkeypatch, tmp_path, Shape(6, 2, 2), tables=4)
    published, users = service.view.current, 4000
    drawn = [published.drawn(f"{number:032x}", service.database.secret) for number in range(users)]
    counts = np.zeros((2, 4))
    for index, table in drawn:
        assert table is not None
        counts[index, table] += 1
    expected = users * np.array([0.25, 0.75])[:, None] / 4
    assert np.all(np.abs(counts - expected) <= 6 * np.sqrt(expected))
    service.database.close()
