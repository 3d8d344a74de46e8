"""Bits of the return in a service: from the law that users get to the sums that a learner reads."""

from __future__ import annotations

import json
import time
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import Shape, Trajectory
from ldprl.client.received import Received
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.sampling import InsecureSource, RandomSource
from ldprl.mechanisms.subset import SubsetOracle, _threshold
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.service.causes import RejectionError
from ldprl.service.history import History
from ldprl.service.intake import Report
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from ldprl.service.view_data import dashboard, export
from ldprl.shape import IntArray
from ldprl.worlds.episodes import EpisodeSampler
from ldprl.worlds.tabular import TabularMDP
from tests.service.test_end_to_end import (
    ENGINE_DRAWS,
    WORLD,
    ReportedSum,
    engine_tally,
    subset_pvalue,
)
from tests.statistical.checks import TYPE_I

USERS = 3000
LARGE = Shape(716, 25, 20)


def served(path: Path, shape: Shape, epsilon: str = "1") -> Service:
    deployment = Deployment(
        "returns", shape, epsilon, "return-bits", learner="ldp-returns", first_epoch=USERS
    )
    service = Service(
        ServiceSettings(deployment, f"sqlite:///{path}/returns.sqlite"), lambda: 3.6e9
    )
    service.prepare()
    return service


def report_of(
    service: Service, report_id: str, sampler: EpisodeSampler, source: RandomSource
) -> dict[str, Any]:
    """Play one user's episode with the client's own code; return the report as it is sent."""
    published, deployment = service.view.current, service.deployment
    own, index = (
        int(report_id, 16) % MOST_POLICIES,
        published.drawn(report_id, service.database.secret),
    )
    answer = published.response(index, own)
    issued = Issued.from_document(json.loads(answer), deployment, own)
    state, states, actions, rewards = sampler.start(), [], [], []
    for h in range(deployment.shape.horizon):
        states.append(state)
        actions.append(int(issued.assignment.table[h, state]))
        reward, state = sampler.step(states[-1], actions[-1])
        rewards.append(reward)
    trajectory = Trajectory(states, actions, rewards)
    sent = Received(issued).report(deployment, report_id, trajectory, source)
    assert len(answer) + len(sent) < 4096
    return json.loads(sent)  # type: ignore[no-any-return]


def visited_by(service: Service, world: TabularMDP, users: int) -> list[dict[str, Any]]:
    rng, source = np.random.default_rng(1), InsecureSource(2)
    sampler, secret = EpisodeSampler(world, rng), np.random.default_rng(3)
    reports = [report_of(service, secret.bytes(16).hex(), sampler, source) for _ in range(users)]
    admitted = [service.intake._admit(Report(**one), service.view) for one in reports]
    assert set(service.database.commit(admitted, {})) == {"counted"}
    assert set(service.database.commit(admitted, {})) == {"duplicate"}
    return reports


def reported_sums(service: Service) -> list[ReportedSum]:
    mechanism, rng = service.deployment.built, np.random.default_rng(5)
    sums = service.database.sums()
    assert sum(one.users for one in sums) == USERS
    return [
        ReportedSum(part, one.users, one.tally, np.array([
            engine_tally(mechanism, part, one.users, rng) for _ in range(ENGINE_DRAWS)
        ]))
        for part, one in zip(service.view.current.plan, sums, strict=True)
    ]  # fmt: skip


def halve_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make clients that spend four times the ε they claim."""
    true_draw = SubsetOracle.draw_many

    def draw_many(self: SubsetOracle, item: int, count: int, source: RandomSource) -> IntArray:
        bolder = replace(self, threshold=_threshold(self.items, self.size, Fraction(4)))
        return true_draw(bolder, item, count, source)

    monkeypatch.setattr(SubsetOracle, "draw_many", draw_many)


@pytest.mark.parametrize("honest", [True, False], ids=["honest", "less noise"])
def test_sums_have_the_engines_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, honest: bool
) -> None:
    """Type-I error 1e-6. The mutant's bit is more truthful than ε allows, and is rejected."""
    service = served(tmp_path, WORLD.shape)
    if not honest:
        halve_the_noise(monkeypatch)
    visited_by(service, WORLD, USERS)
    assert (subset_pvalue(reported_sums(service)) > TYPE_I) == honest
    service.database.close()


def test_what_is_decoded_is_what_the_reports_say_one_by_one(tmp_path: Path) -> None:
    """The sums are those that the simulation's decoder makes of each report's bit and table."""
    service = served(tmp_path, WORLD.shape)
    reports = visited_by(service, WORLD, 60)
    plan, mechanism = service.view.current.plan, service.deployment.built
    assert isinstance(mechanism, ReturnBits)
    found = service.decoder.statistics(service.database.sums()).effects
    assert found is not None
    expected = np.zeros_like(found.scores)
    for report in reports:
        part = plan[report["assignment"]]
        (question,) = part.questions
        assert isinstance(question.what, Return)
        assert part.law is not None
        table, law = part.law.table(report["number"]), part.law.chances()[0]
        (bit,) = report["values"]
        keep = float(mechanism.oracle_for(2).keep)
        answer = (bit - (1 - keep)) / (2 * keep - 1) - question.what.expected / UNIT
        answer /= float(mechanism.spread(question.what.expected / UNIT))
        played = np.eye(service.deployment.shape.actions)[table[0]]
        # The first law is the same at every step.
        expected[0] += question.weights[0] * answer * (played - law)
    np.testing.assert_allclose(found.scores, expected, atol=1e-9)
    service.database.close()


def test_the_next_plan_reads_the_sums_and_the_pages_show_them(tmp_path: Path) -> None:
    service = served(tmp_path, WORLD.shape)
    first = service.view.current
    visited_by(service, WORLD, USERS)
    service.planner.step()
    second = service.view.current
    assert (second.version, second.users) == (first.version + 1, USERS)
    before, after = (one.plan[0].chances(WORLD.shape) for one in (first, second))
    assert not np.allclose(before, after)
    statistics = service.decoder.statistics(service.database.sums())
    again = service.planner.plan(statistics, second.version)
    assert np.array_equal(again[0].chances(WORLD.shape), after)
    # Each law has all bands, and is written once.
    parts = json.loads(second.whole)["assignments"]
    laws = {id(one.law) for one in second.plan}
    assert sum(isinstance(part["law"], dict) for part in parts) == len(laws) < len(parts)
    shown = json.loads(json.dumps(dashboard(service, History(service)), allow_nan=False))
    assert np.shape(shown["best"]) == (WORLD.horizon, WORLD.shape.states)
    assert shown["progress"] is None
    learnt = shown["learning"]
    assert 0 <= learnt["random_value"] <= learnt["best_value"] <= WORLD.horizon
    assert learnt["value"] <= learnt["best_value"]
    # All that have reported had the first version: nothing can be closed yet.
    assert learnt["closed"] < 0.2
    written = json.loads(json.dumps(export(service), allow_nan=False))
    assert np.shape(written["statistics"]["effects"]["scores"])[1:] == np.shape(before[0])
    service.database.close()


def test_values_that_are_no_bit_and_numbers_that_nobody_draws_are_refused(tmp_path: Path) -> None:
    service = served(tmp_path, WORLD.shape)
    sampler = EpisodeSampler(WORLD, np.random.default_rng(0))
    good = report_of(service, "a" * 32, sampler, InsecureSource(0))
    drawn = partial(service.view.current.drawn, secret=service.intake._secret)
    another = next(one * 32 for one in "bcdef0123456789" if drawn(one * 32) != good["assignment"])
    changes: list[tuple[dict[str, Any], str]] = [
        ({"values": [2]}, "wrong-alphabet"),
        ({"values": []}, "wrong-alphabet"),
        ({"values": [0, 1]}, "wrong-alphabet"),
        ({"number": None}, "wrong-assignment"),
        ({"number": 2**53}, "wrong-assignment"),
        ({"id": another}, "wrong-assignment"),
    ]
    for change, cause in changes:
        with pytest.raises(RejectionError) as refused:
            service.intake._admit(Report(**good | change), service.view)
        assert refused.value.cause == cause
    service.database.close()


def test_716_states_and_25_actions_are_planned_within_a_second_and_little_memory(
    tmp_path: Path,
) -> None:
    """A user's answer and report together stay below 4 kB (see ``report_of``)."""
    service = served(tmp_path, LARGE, "2")
    moves = np.zeros((716, 25, 716))
    states, actions = np.ogrid[:716, :25]
    moves[states, actions, (states + actions) % 716] = 1
    visited_by(service, TabularMDP(moves, np.full((716, 25), 0.5), 20), 40)
    tracemalloc.start()
    started = time.process_time()
    service.planner.plan(service.decoder.statistics(service.database.sums()), 2)
    seconds = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 2
    assert peak < 200e6
    (stored,) = service.database.plans(0)
    # Two laws, each with a whole number for each state and action.
    assert len(stored.assignments) < 700_000
    # Nobody reads a policy of 14,320 cells: the page gets what it can show.
    assert len(json.dumps(dashboard(service, History(service)))) < 50_000
    service.database.close()
