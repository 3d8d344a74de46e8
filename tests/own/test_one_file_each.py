"""The first three are simulated, deployed, accounted for and plotted like the house's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from ldprl import Assignment, InputError, Shape, random_mdp, simulate
from ldprl.audit import audit
from ldprl.catalogue import LEARNERS, build
from ldprl.figures import gallery
from ldprl.figures.privacy_plots import plot_profiles
from ldprl.figures.reproduce import reproduce
from ldprl.figures.settings import Settings
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, report_document
from ldprl.protocol.statement import privacy_statement
from ldprl.service.intake import Report
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from ldprl.simulation.reference import episode, run_protocol
from ldprl.simulation.world import draw_true_counts
from tests.own.eps_greedy import EpsGreedy
from tests.own.one_of_all import OneOfAll
from tests.own.place import Place

MECHANISM, LEARNER = "tests.own.one_of_all:OneOfAll", "tests.own.eps_greedy:EpsGreedy"
SHAPE = Shape(3, 2, 2)
MDP = random_mdp(states=3, actions=2, horizon=2, seed=1)


def test_they_are_simulated_in_batches_and_one_by_one() -> None:
    learner, mechanism = build(LEARNER, MECHANISM, SHAPE, episodes=1000, epsilon=2.0)
    assert isinstance(learner, EpsGreedy)
    assert isinstance(mechanism, OneOfAll)
    result = simulate(MDP, learner, mechanism, 20_000, runs=2)
    assert np.all(np.diff(result.curves, axis=1) >= 0)
    *_, last = run_protocol(MDP, learner, mechanism, 50)
    assert last.statistics.users == 50


def test_a_batch_is_the_sum_of_its_users() -> None:
    """Decoded arrivals within 6 standard errors of the truth; of another state they are not."""
    mechanism, users = OneOfAll(SHAPE, 3.0), 10**6
    policy = np.zeros((2, 3), dtype=np.int64)
    assignment = Assignment(policy, 1.0, (Question(Place(), 1, np.ones(3)),))
    rng = np.random.default_rng(0)
    totals = draw_true_counts(MDP, policy, users, 1, rng)
    sums = mechanism.decode(mechanism.sample_tally(totals, assignment, rng), users, assignment)
    assert sums.arrivals is not None
    error = 6 * np.sqrt(users * 0.25) / mechanism.oracle(Place()).contrast
    assert np.all(np.abs(sums.arrivals[1] - totals.arrivals[1]) < error)
    assert not np.all(np.abs(sums.arrivals[1] - np.roll(totals.arrivals[1], 1)) < error)


def test_they_are_deployed(tmp_path: Path) -> None:
    """A service plans with the learner, and reports go over the wire and back."""
    deployment = Deployment("own", SHAPE, "2", MECHANISM, learner=LEARNER)
    again = Deployment.from_document(json.loads(json.dumps(deployment.document)))
    assert again.digest == deployment.digest
    assert deployment.options == {"places": True}
    kinds = {"place", "reward", "transition"}
    assert set(deployment.document["randomizer"]) == kinds | {"places"}
    service = Service(ServiceSettings(deployment, f"sqlite:///{tmp_path}/own.sqlite"))
    service.prepare()
    published, rng, asked = service.view.current, np.random.default_rng(0), set()
    for number in range(200):
        report_id = f"{number:032x}"
        own, index = (
            int(report_id, 16) % MOST_POLICIES,
            published.drawn(report_id, service.database.secret),
        )
        received = published.response(index, own)
        issued = Issued.from_document(json.loads(received), again, own)
        asked |= {question.kind for question in issued.assignment.questions}
        trajectory = episode(MDP, issued.assignment.table, rng)
        report = again.built.privatize(trajectory, issued.assignment, InsecureSource(number))
        values = again.built.codec(issued.assignment).write(report)
        sent = json.loads(json.dumps(report_document(report_id, issued, values)))
        admitted = service.intake._admit(Report(**sent), service.view)
        assert service.database.commit([admitted], {}) == ["counted"]
    assert asked == kinds
    sums = service.decoder.statistics(service.database.sums())
    assert sums.users == 200
    assert sums.asked is not None
    assert sums.asked.sum() == 200
    statistics = service.decoder.statistics(service.database.sums())
    assert len(service.planner.plan(statistics, 2)) > 1
    service.database.close()


def test_their_privacy_is_accounted_for_and_audited() -> None:
    mechanism = OneOfAll(SHAPE, 1.5)
    profile = mechanism.privacy_profile()
    assert profile.pure == pytest.approx(1.5, abs=1e-9)
    assert profile.pure <= 1.5
    assert privacy_statement(mechanism).given == mechanism.guarantee
    found = audit(mechanism, mechanism.guarantee, samples=4000)
    assert 0.5 < found.empirical_epsilon_lower <= 1.5
    assert found.verdict == "holds"


def test_they_are_plotted(tmp_path: Path) -> None:
    mpl.use("Agg")
    figure = plot_profiles({OneOfAll.title: OneOfAll(SHAPE, 1.0).privacy_profile()}, 1.0)
    figure.savefig(tmp_path / "profile.png")
    assert LEARNERS.find(LEARNER).title == "ε-greedy"
    assert LEARNERS.find(LEARNER).colour == "#228833"


def test_a_figure_is_found_drawn_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [*gallery.__path__, str(Path(__file__).parent / "gallery")]
    monkeypatch.setattr(gallery, "__path__", folders)
    page = reproduce(["kept"], Settings(episodes=100, runs=1), tmp_path / "out", workers=1)
    monkeypatch.delitem(sys.modules, f"{gallery.__name__}.kept")
    text = page.read_text(encoding="utf-8")
    assert "How often is a bit kept?" in text
    assert "probability 0.982" in text
    assert (tmp_path / "out" / "pictures" / "kept.svg").stat().st_size > 0


def test_options_are_the_mechanism_s_own() -> None:
    table = {"name": "own", "states": 3, "actions": 2, "horizon": 2, "epsilon": "2"}
    few = Deployment.from_toml(table | {"mechanism": MECHANISM, "places": False})
    assert not few.built.places  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="places"):
        Deployment.from_toml(table | {"places": False})
    with pytest.raises(InputError, match="layout"):
        Deployment.from_toml(table | {"mechanism": MECHANISM, "layout": "joint"})


@pytest.mark.parametrize(
    "changes",
    [
        {"mechanism": "antigravity:Mechanism"},
        {"policy": {"kind": "antigravity:Policies"}, "shape": {}},
    ],
)
def test_a_document_loads_no_module(changes: dict[str, Any]) -> None:
    document = Deployment("own", SHAPE, "2").document | changes
    with pytest.raises(InputError, match="that this program has imported"):
        Deployment.from_document(document)
