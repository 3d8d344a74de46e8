"""Bits and moves in a service: two kinds of question in one plan, from users to the next plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from ldprl.mechanisms.sampling import InsecureSource
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import RejectionError
from ldprl.service.history import History
from ldprl.service.intake import Report
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from ldprl.service.view_data import dashboard, export
from ldprl.worlds.episodes import EpisodeSampler
from tests.learning.test_ldp_ways import locked_corridor
from tests.service.test_return_bits import report_of

USERS, MOVES = 120, 20
WORLD = locked_corridor()


def served(path: Path) -> Service:
    deployment = Deployment(
        "ways", WORLD.shape, "2", "bits-and-moves", learner="ldp-ways", first_epoch=USERS
    )
    service = Service(ServiceSettings(deployment, f"sqlite:///{path}/ways.sqlite"), lambda: 3.6e9)
    service.prepare()
    return service


def ids_of(service: Service, moves: bool) -> Iterator[str]:
    """Yield ids that draw a question about a move, or one about the return."""
    for number in range(100_000):
        one = f"{number:032x}"
        index = service.view.current.drawn(one, service.database.secret)
        if service.view.current.plan[index].numbered != moves:
            yield one


def test_users_answer_one_of_two_kinds_and_the_next_plan_reads_both(tmp_path: Path) -> None:
    service = served(tmp_path)
    plan, mechanism = service.view.current.plan, service.deployment.built
    sampler, source = EpisodeSampler(WORLD, np.random.default_rng(1)), InsecureSource(2)
    moves, bits = (
        [report_of(service, one, sampler, source) for one in islice(ids_of(service, kind), count)]
        for kind, count in ((True, MOVES), (False, USERS - MOVES))
    )
    admitted = [service.intake._admit(Report(**one), service.view) for one in moves + bits]
    assert set(service.database.commit(admitted, {})) == {"counted"}
    statistics = service.decoder.statistics(service.database.sums())
    assert statistics.asked is not None
    assert statistics.asked.sum() == MOVES
    # What is decoded is what the reports say one by one.
    expected = np.zeros_like(statistics.transitions)
    for one in moves:
        part = plan[one["assignment"]]
        tally = mechanism.codec(part).read(one["values"])
        expected += mechanism.decode(tally, 1, part).transitions
    np.testing.assert_allclose(statistics.transitions, expected, atol=1e-9)
    assert statistics.effects is not None
    assert statistics.effects.thresholds[0].any()
    service.planner.step()
    second = service.view.current
    assert second.users == USERS
    again = service.planner.plan(statistics, second.version)
    for left, right in zip(again, second.plan, strict=True):
        assert np.array_equal(left.chances(WORLD.shape), right.chances(WORLD.shape))
        assert left.questions[0].document() == right.questions[0].document()
    shown = json.loads(json.dumps(dashboard(service, History(service)), allow_nan=False))
    assert np.shape(shown["best"]) == (WORLD.horizon, WORLD.shape.states)
    written = json.loads(json.dumps(export(service), allow_nan=False))
    assert np.shape(written["statistics"]["transitions"]) == expected.shape
    service.database.close()


def test_a_move_that_names_too_many_pairs_is_refused(tmp_path: Path) -> None:
    service = served(tmp_path)
    sampler, source = EpisodeSampler(WORLD, np.random.default_rng(0)), InsecureSource(0)
    first = next(ids_of(service, moves=True))
    good = report_of(service, first, sampler, source)
    service.intake._admit(Report(**good), service.view)
    missing = next(i for i in range(65) if i not in good["values"])
    for values in (sorted([*good["values"], missing]), good["values"][:-1], [0]):
        with pytest.raises(RejectionError) as refused:
            service.intake._admit(Report(**good | {"values": values}), service.view)
        assert refused.value.cause == "wrong-alphabet"
    service.database.close()
