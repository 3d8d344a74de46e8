"""Who can plan for a service: those that learn from private sums, for any number of users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import LDPEVI, InputError, Shape
from ldprl.assignment import Assignment
from ldprl.catalogue import LEARNERS
from ldprl.protocol.deployment import Deployment
from ldprl.service.learners import check_used, learner_of
from ldprl.service.limits import Limits
from ldprl.service.plans import longest_under
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings, read_deployment
from ldprl.structure import Structure

ABLE = {"ldp-es", "ldp-evi", "ldp-ts", "ldp-obi", "ldp-returns", "ldp-ways"}


def test_learners_say_whether_they_can_serve() -> None:
    assert {name for name, kind in LEARNERS.items() if kind.can_serve()} == ABLE


@pytest.mark.parametrize("name", sorted(ABLE - {"ldp-es"}))
def test_a_learner_is_built_from_the_deployment(name: str) -> None:
    mechanism = (
        LEARNERS[name].usual_mechanism
        if LEARNERS[name].statistics_kind == "effects"
        else "subset-selection"
    )
    used = "failure_probability" in LEARNERS[name].parameters()
    deployment = Deployment(
        "test",
        Shape(2, 2, 2),
        "1",
        mechanism,
        learner=name,
        failure_probability="0.02" if used else "0.1",
    )
    learner = learner_of(deployment)
    assert learner.name == name
    assert getattr(learner, "failure", 0.02) == 0.02
    if isinstance(learner, LDPEVI):
        assert (
            learner.log_threshold
            == LDPEVI(deployment.built, failure_probability=0.02).log_threshold
        )


def test_a_plan_that_no_client_reads_is_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = Deployment("test", Shape(2, 2, 2), "1", learner="ldp-ts")
    service = Service(ServiceSettings(deployment, f"sqlite:///{tmp_path}/test.sqlite"))
    service.prepare()
    longest = max(len(document) for document in service.view.current.ready)
    monkeypatch.setattr("ldprl.service.service.LONGEST_BODY", longest)
    service.prepare()
    monkeypatch.setattr("ldprl.service.service.LONGEST_BODY", longest - 1)
    with pytest.raises(InputError, match=f"a plan of {longest} bytes"):
        service.prepare()
    service.database.close()


def test_a_deployment_whose_reports_are_not_taken_does_not_start(tmp_path: Path) -> None:
    """Each user would pay for a report that is refused for its length."""
    deployment = Deployment("test", Shape(2, 2, 2), "1", "laplace", learner="ldp-obi")

    def starts_with(body_bytes: int) -> Service:
        limits = Limits(body_bytes=body_bytes)
        address = f"sqlite:///{tmp_path}/{body_bytes}.sqlite"
        return Service(ServiceSettings(deployment, address, limits=limits))

    plan = (Assignment(np.zeros((2, 2), dtype=np.int64)),)
    longest = longest_under(plan, 2**53, deployment)
    service = starts_with(longest - 1)
    with pytest.raises(InputError, match=f"reports of up to {longest} bytes"):
        service.prepare()
    assert not service.database.state().version
    service.database.close()
    service = starts_with(longest)
    service.prepare()
    service.database.close()


@pytest.mark.parametrize(
    ("key", "given"),
    [("failure_probability", {"failure_probability": "0.2"}), ("delta", {"delta": "0.1"})],
)
def test_a_key_that_nothing_uses_is_refused(key: str, given: dict[str, Any]) -> None:
    deployment = Deployment("test", Shape(2, 2, 2), "1", learner="ldp-ts", **given)
    with pytest.raises(InputError, match=f"^{key} = "):
        check_used(deployment)


def test_a_service_that_runs_keeps_a_key_that_nothing_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = Deployment("test", Shape(2, 2, 2), "1", learner="ldp-ts", delta="0.1")
    settings = ServiceSettings(deployment, f"sqlite:///{tmp_path}/test.sqlite")

    def start() -> int:
        service = Service(settings)
        try:
            service.prepare()
            return service.view.current.version
        finally:
            service.database.close()

    with pytest.raises(InputError, match=r"^delta = "):
        start()
    with monkeypatch.context() as earlier:
        earlier.setattr("ldprl.service.service.check_used", lambda deployment: None)
        assert start() == 1
    assert start() == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ucb-vi", "private sums"),
        ("ldp-psrl", "any number of users"),
        ("studies.rivals:PUCB", "private sums"),
        ("ldp-ev", "did you mean 'ldp-evi'"),
        ("nowhere:Learner", "no module named 'nowhere'"),
        ("json:loads", "json has no class 'loads'"),
        ("json:JSONDecoder", "JSONDecoder is not a Learner"),
        ("ldprl.learning.learner:Learner", "lacks plan"),
    ],
)
def test_others_are_refused_where_a_deployment_is_read(
    tmp_path: Path, name: str, expected: str
) -> None:
    file = tmp_path / "deployment.toml"
    sizes = 'name = "t"\nstates = 2\nactions = 2\nhorizon = 2\nepsilon = "1"\n'
    file.write_text(f'{sizes}learner = "{name}"\n', encoding="utf-8")
    with pytest.raises(InputError, match=expected) as refused:
        read_deployment(file)
    assert refused.value.field == "learner"


@pytest.mark.parametrize(
    ("learner", "mechanism"), [("ldp-evi", "return-bits"), ("ldp-returns", "subset-selection")]
)
def test_a_learner_of_other_sums_is_refused(learner: str, mechanism: str) -> None:
    deployment = Deployment("test", Shape(2, 2, 2), "1", mechanism, learner=learner)
    with pytest.raises(InputError, match=f"with {learner} \\({mechanism} goes with ") as refused:
        learner_of(deployment)
    assert refused.value.field == "mechanism"


@pytest.mark.parametrize(
    ("learner", "mechanism"), [("ldp-returns", "return-bits"), ("ldp-evi", "subset-selection")]
)
def test_a_service_hands_out_admissible_actions_only(learner: str, mechanism: str) -> None:
    shape = Shape(3, 3, 2)
    known = Structure.from_document({"admissible": [[0, 2], [1], [1, 2]]}, shape)
    deployment = Deployment("test", shape, "1", mechanism, learner=learner, structure=known)
    rng = np.random.default_rng(0)
    for one in learner_of(deployment).plan(deployment.built.no_statistics(), rng):
        assert one.chances(shape)[:, ~known.choices].max() == 0


def test_a_learner_that_knows_nothing_of_admissible_actions_is_refused() -> None:
    known = Structure.from_document({"admissible": [[0], [1]]}, Shape(2, 2, 2))
    deployment = Deployment("test", Shape(2, 2, 2), "1", learner="ldp-obi", structure=known)
    with pytest.raises(InputError, match="keeps to admissible actions"):
        learner_of(deployment)


def test_what_is_known_may_lie_in_a_file_of_its_own(tmp_path: Path) -> None:
    sizes = 'name = "test"\nepsilon = 1\nstates = 2\nactions = 2\nhorizon = 2\n'
    path = tmp_path / "deployment.toml"
    path.write_text(f'{sizes}structure = "known.json"\n', encoding="utf-8")
    (tmp_path / "known.json").write_text('{"admissible": [[0], [1]]}', encoding="utf-8")
    assert read_deployment(path).document["structure"] == {"admissible": [[0], [1]]}
    (tmp_path / "known.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"known.json.*valid JSON"):
        read_deployment(path)
