"""Certificates of a service: its acknowledged answers and nothing else, whatever happens to it."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import Trajectory
from ldprl.certificates import Scale
from ldprl.certificates.evidence import key_of
from ldprl.errors import InputError
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.policies.linear import Linear
from ldprl.protocol.certificate import Certified
from ldprl.protocol.deployment import Deployment
from ldprl.service.certificate import certify_export, terms_of
from ldprl.service.database.protocol import Admitted
from ldprl.service.gauges import gauges
from ldprl.service.intake import Report
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings, read_deployment
from ldprl.service.view_data import certificate, export
from ldprl.shape import Policy
from ldprl.worlds.episodes import EpisodeSampler
from ldprl.worlds.evaluation import optimum, policy_values
from ldprl.worlds.families import random_mdp

from .conftest import DEPLOYMENT, StartServer
from .server import Server, some_values

CERTIFIED = (
    DEPLOYMENT.replace("1000000", "40")
    + """
[structure]
incumbent = [0, 1, 0]
[certificate]
share = "0.5"
confidence = "0.9"
"""
)


def opened(database: str, deployment: str = CERTIFIED) -> Service:
    made = Service(ServiceSettings(Deployment.from_toml(tomllib.loads(deployment)), database))
    made.prepare()
    return made


def test_terms_are_those_of_the_deployment() -> None:
    """Returns from −2 to 6, the bits' own e/(1 + e), the policy to start from, and the memory."""
    problem = Linear(features=["x"], actions=["rest", "run"], horizon=3, returns=(-2, 6))
    started = problem.with_start(np.arange(1.0, 5.0))
    certified = Certified("0.25", "0.9", most_lost="0.05", alarm="0.01")
    terms = terms_of(Deployment("any", started, "1", memory_users=7000, certificate=certified))
    assert terms is not None
    assert terms.scale == Scale(terms.scale.keep, 6.0, -2.0)
    assert terms.scale.keep == pytest.approx(math.e / (1 + math.e))
    assert (terms.share, terms.confidence, terms.most_lost) == (0.25, 0.9, 0.05)
    assert (terms.alarm, terms.memory) == (0.01, 7000)
    assert key_of(terms.incumbent) == key_of(started.incumbent)


def some_reports(
    service: Service, count: int, rng: np.random.Generator, ones: float = 0.5
) -> list[Admitted]:
    """Return reports under the plan in force; bits about its worth are 1 with chance ``ones``."""
    published, result = service.view.current, []
    for _ in range(count):
        report_id = rng.bytes(16).hex()
        index = published.drawn(report_id, service.database.secret)
        letters = published.codecs[index]
        values = sorted(rng.choice(letters.length, len(some_values(letters)), False).tolist())
        if published.plan[index].questions[0].kind == "worth":
            values = [int(rng.random() < ones)]
        report = Report(report_id, service.deployment.digest, published.version, index, values)
        result.append(service.intake._admit(report, service.view))
    return result


def test_it_counts_the_answers_under_each_policy_across_restarts(database: str) -> None:
    """Five versions, each served by another process; the answers are added up by hand beside."""
    rng, expected = np.random.default_rng(4), Counter[bytes]()
    ones = Counter[bytes]()
    for _ in range(5):
        service = opened(database)
        plan = service.view.current.plan
        reports = some_reports(service, 60, rng)
        service.database.commit(reports, {})
        for report in reports:
            assignment = plan[report.assignment]
            if assignment.questions[0].kind == "worth":
                expected[assignment.table.tobytes()] += 1
                ones[assignment.table.tobytes()] += int(report.values[0])
        service.planner.step()
        service.database.close()
    service = opened(database)
    evidence = service.decoder.evidence(service.database.sums())
    assert evidence is not None
    known = [*evidence.policies, np.array([[0, 1, 0]] * 3)]
    bits = [*evidence.bits, evidence.incumbent]
    found = {
        one.tobytes(): (answers.users, answers.ones)
        for one, answers in zip(known, bits, strict=True)
    }
    assert {key: value for key, value in found.items() if value[0]} == {
        key: (users, ones[key]) for key, users in expected.items()
    }
    certified = certificate(service)
    assert certified is not None
    assert [one["users"] for one in certified["policies"]] == [one.users for one in evidence.bits]
    assert json.loads(json.dumps(certified)) == certify_export(
        json.loads(json.dumps(export(service)))
    )
    service.database.close()


def test_a_change_is_noticed_and_told_everywhere(
    tmp_path: Path, caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Returns fall from 3 to 0; the incumbent has a quarter of 1600 answers before and after.

    Each version is served by another process, which reads all from the database. The database's
    secret decides who is asked what: it is fixed, as the answers are.
    """
    monkeypatch.setattr("secrets.token_bytes", bytes)
    rng, database = np.random.default_rng(5), f"sqlite:///{tmp_path}/one.sqlite"
    watched = CERTIFIED.replace("= 40", "= 1600") + 'alarm = "0.01"\n'
    keep = np.exp(0.5) / (1 + np.exp(0.5))
    seen = []
    for ones in (keep, keep, 1 - keep, 1 - keep):
        service = opened(database, watched)
        service.database.commit(some_reports(service, 1600, rng, ones), {})
        service.planner.step()
        certified = certificate(service)
        assert certified is not None
        seen.append(certified["change"])
        service.database.close()
    assert seen[:2] == [None, None]
    assert seen[3]["since"] == 3200
    assert seen[3]["policy"] is None
    assert seen[3]["before"] - seen[3]["after"] > 2
    assert "the world seems to have changed since about user 3200" in caplog.text
    service = opened(database, watched)
    assert certificate(service) == certified
    assert json.loads(json.dumps(certified)) == certify_export(
        json.loads(json.dumps(export(service)))
    )
    shown: dict[str, Any] = {"contradictions": [], "learning": defaultdict(float)}
    metrics = gauges(
        service, shown | {"progress": None, "model_change": None, "certificate": certified}
    )
    assert (metrics[-1].name, metrics[-1].value) == ("ldprl_world_changed", 1)
    assert certified is not None
    of, current = (
        {one.name: one.value for one in metrics},
        certified["policies"][certified["current"]],
    )
    for name, interval in (("return", current["worth"]), ("gain", current["better"])):
        ends = {end: of[f"ldprl_certified_{name}_{end}"] for end in ("low", "high")}
        assert ends == interval
    service.database.close()


def test_the_call_is_there_only_with_a_certificate(
    start_server: StartServer, tmp_path: Path, server: Server
) -> None:
    assert server.get("/v1/certificate").status == 404
    certified = start_server(CERTIFIED, f"sqlite:///{tmp_path}/one.sqlite")
    answer = certified.get("/v1/certificate")
    assert answer.status == 200
    assert answer.json["incumbent"]["worth"] == {"low": 0.0, "high": 3.0}
    assert answer.json["confidence"] == 0.9


def test_the_incumbent_lies_in_a_file_beside_the_deployment(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    file.write_text(CERTIFIED.replace("[0, 1, 0]", '"incumbent.json"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"^structure.incumbent = .*No such file"):
        read_deployment(file)
    beside = tmp_path / "incumbent.json"
    beside.write_text("[0, 1, 0", encoding="utf-8")
    with pytest.raises(InputError, match=r"^structure.incumbent = .*valid JSON"):
        read_deployment(file)
    beside.write_text("[0, 1, 0]", encoding="utf-8")
    assert read_deployment(file).digest == Deployment.from_toml(tomllib.loads(CERTIFIED)).digest


@pytest.mark.parametrize("broken", [None, [], {"deployment": {}}, {"plans": 3}])
def test_an_export_that_is_none_is_refused(broken: object) -> None:
    with pytest.raises(InputError):
        certify_export(broken)


def lost_at_worst(folder: Path, most_lost: str) -> float:
    """Return the largest share of the incumbent's return that users had lost after any of them.

    Simulated users of a service whose incumbent is the best policy, so that exploring only loses.
    """
    world = random_mdp(3, 2, 3, seed=1)
    best = optimum(world)
    table = tomllib.loads(DEPLOYMENT) | {
        "epsilon": "4",
        "first_epoch": 400,
        "epochs": "every:400",
        "structure": {"incumbent": best.policy.tolist()},
        "certificate": {"share": "0.2", "confidence": "0.95", "most_lost": most_lost},
    }
    url = f"sqlite:///{folder}/{most_lost}.sqlite"
    service = Service(ServiceSettings(Deployment.from_toml(table), url))
    service.prepare()
    # Who gets which assignment is the same each time.
    service.database.secret = bytes(32)
    rng, value = np.random.default_rng(3), float(world.initial @ best.values[0])
    sampler, source = EpisodeSampler(world, rng), InsecureSource(5)
    lost, worst, users = 0.0, 0.0, 0
    for _ in range(5):
        published, reports = service.view.current, list[Admitted]()
        worth = [
            float(world.initial @ policy_values(world, one.table)[0]) for one in published.plan
        ]
        for _ in range(400):
            name = rng.bytes(16)
            index = published.drawn(name.hex(), service.database.secret)
            assignment, letters = published.plan[index], published.codecs[index]
            episode = trajectory(sampler, assignment.table)
            report = service.deployment.built.privatize(episode, assignment, source)
            values = letters.admit(letters.write(report))
            reports.append(Admitted(name, published.version, index, letters, values))
            lost += value - worth[index]
            users += 1
            worst = max(worst, lost / (users * value))
        service.database.commit(reports, {})
        service.planner.step()
    service.database.close()
    return worst


def trajectory(sampler: EpisodeSampler, policy: Policy) -> Trajectory:
    state, episode = sampler.start(), list[tuple[int, int, float]]()
    for row in policy:
        action = int(row[state])
        reward, following = sampler.step(state, action)
        episode.append((state, action, reward))
        state = following
    states, actions, rewards = zip(*episode, strict=True)
    return Trajectory(states, actions, rewards)


def test_users_of_a_service_lose_no_more_than_is_allowed(tmp_path: Path) -> None:
    """Mutant: where all may be lost, users lose half of it, ten times as much."""
    assert 0 < lost_at_worst(tmp_path, "0.05") <= 0.05
    assert lost_at_worst(tmp_path, "1") > 0.4
