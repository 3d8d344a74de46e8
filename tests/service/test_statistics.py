"""Sums of versions, and whether the model behind them is still the same."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from ldprl.assignment import shares_of
from ldprl.learning.ldp_ts import LDPTS
from ldprl.learning.learner import next_plan
from ldprl.protocol.deployment import Deployment
from ldprl.service import statistics
from ldprl.service.database.protocol import Database, StoredPlan, Sum
from ldprl.service.plans import plan_text
from ldprl.service.statistics import Decoder
from ldprl.simulation.world import draw_true_counts
from ldprl.worlds import TabularMDP, random_mdp

WORLDS = (random_mdp(3, 2, 3, 5), random_mdp(3, 2, 3, 6))
USERS = 4000


class Kept:
    """A database with the same plan in every version, and sums of users of given worlds."""

    def __init__(self, deployment: Deployment, worlds: list[TabularMDP]) -> None:
        rng, mechanism = np.random.default_rng(1), deployment.built
        plan = next_plan(LDPTS(mechanism), mechanism, mechanism.no_statistics(), rng)
        self.sums: list[Sum] = []
        for version, world in enumerate(worlds, 1):
            groups = rng.multinomial(USERS, shares_of(plan)).tolist()
            for index, (one, users) in enumerate(zip(plan, groups, strict=True)):
                totals = draw_true_counts(world, one.table, users, mechanism.resolution, rng)
                tally = mechanism.sample_tally(totals, one, rng)
                self.sums.append(Sum(version, index, users, tally))
        self._plans = [
            StoredPlan(v + 1, USERS * v, "", 0, plan_text(plan)) for v in range(len(worlds))
        ]

    def plans(self, after: int) -> list[StoredPlan]:
        return self._plans[after:]


def test_a_change_of_the_model_is_seen_until_the_old_one_is_forgotten() -> None:
    """Versions 8 to 15 are of another world; versions lie in blocks of four."""
    worlds = [WORLDS[0]] * 7 + [WORLDS[1]] * 8
    for memory, expected in ((None, 7 * USERS), (10 * USERS, 7 * USERS), (7 * USERS, None)):
        deployment = Deployment("d", WORLDS[0].shape, "4", memory_users=memory)
        kept = Kept(deployment, worlds)
        decoder = Decoder(cast(Database, kept), deployment)
        found = decoder.change(kept.sums)
        assert (None if found is None else found["since"]) == expected
        assert found is None or found["differences"]
        assert decoder.statistics(kept.sums).users == (memory or 15 * USERS)
        assert decoder.change(kept.sums[: len(kept.sums) // 15]) is None


@pytest.mark.parametrize(("memory", "first"), [(None, 1), (2 * USERS, 4)])
def test_each_stretch_of_memory_has_a_share_of_the_failure_of_its_own(
    monkeypatch: pytest.MonkeyPatch, memory: int | None, first: int
) -> None:
    """It is told by the version with which what is remembered begins."""
    asked: list[int] = []
    monkeypatch.setattr(statistics, "model_change", lambda _, blocks, start: asked.append(start))
    deployment = Deployment("d", WORLDS[0].shape, "4", memory_users=memory)
    kept = Kept(deployment, [WORLDS[0]] * 5)
    assert Decoder(cast(Database, kept), deployment).change(kept.sums) is None
    assert asked == [first]
