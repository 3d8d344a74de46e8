"""Contexts: users drawn from rows, paid by chance or exactly."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.worlds.contexts import Contexts, ContextWorld
from ldprl.worlds.sampled_from import sampled_from

RNG = np.random.default_rng(0)
SEEN = RNG.normal(size=(40, 3))
REWARDS = RNG.random((40, 4))


def world(contexts: Contexts, policy: str = "linear", **more: Any) -> ContextWorld:
    found = sampled_from(contexts, policy, **more)
    assert isinstance(found, ContextWorld)
    return found


@pytest.mark.parametrize("kind", ["bernoulli", "exact"])
def test_users_are_rows_and_are_paid_what_their_action_pays(kind: str) -> None:
    one = world(Contexts(SEEN, REWARDS, kind))
    assert one.problem.horizon == 1
    assert one.best == pytest.approx(REWARDS.max(axis=1).mean())
    own = RNG.normal(size=one.problem.size)
    chosen = [int(one.problem.act(own, seen)) for seen in SEEN]  # type: ignore[arg-type]
    means = REWARDS[np.arange(40), chosen]
    assert one.mean_return(own, RNG) == pytest.approx(means.mean())
    users = 20_000
    found = one.returns(np.repeat(own[None], users, axis=0), np.random.default_rng(1))
    if kind == "exact":
        assert set(found) == set(means)
    else:
        assert set(found) == {0, 1}
    # Rewards in [0, 1] have a standard deviation of at most ½: beyond this with probability 6e-7.
    assert abs(found.mean() - means.mean()) < 5 * 0.5 / math.sqrt(users)


def test_each_user_has_a_policy_of_their_own() -> None:
    one = world(Contexts(np.ones((1, 1)), np.eye(3)[None, 0], "exact"))
    biases = np.eye(3)[np.arange(9) % 3]
    parameters = np.column_stack([biases, np.zeros((9, 3))])
    np.testing.assert_array_equal(
        one.returns(parameters, np.random.default_rng(0)), (np.arange(9) % 3 == 0).astype(float)
    )


@pytest.mark.parametrize("rows", [40, 1])
def test_features_of_actions_have_shared_weights(rows: int) -> None:
    seen = RNG.normal(size=(rows, 4, 2))
    one = world(Contexts(seen, REWARDS, "exact"), "shared-linear")
    assert one.problem.size == 2
    own = RNG.normal(size=2)
    best = np.broadcast_to(seen @ own, (40, 4)).argmax(axis=1)
    assert one.mean_return(own, RNG) == pytest.approx(REWARDS[np.arange(40), best].mean())


def test_many_rows_are_evaluated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    one = world(Contexts(SEEN, REWARDS, "exact"))
    parameters = RNG.normal(size=(100, one.problem.size))
    whole = one.returns(parameters, np.random.default_rng(0))
    monkeypatch.setattr("ldprl.worlds.contexts._MOST_AT_ONCE", 20)
    np.testing.assert_array_equal(whole, one.returns(parameters, np.random.default_rng(0)))


def test_rewards_by_chance_reach_both_ends_of_the_range() -> None:
    one = world(Contexts(SEEN, 4 * REWARDS - 2), return_range=(-2, 2))
    found = one.returns(np.zeros((500, one.problem.size)), np.random.default_rng(0))
    assert set(found) == {-2, 2}


def test_a_file_holds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, features=SEEN, rewards=REWARDS, reward_kind="exact")
    ours, theirs = world(Contexts(SEEN, REWARDS, "exact")), sampled_from(str(path))
    parameters = RNG.normal(size=(50, ours.problem.size))
    rng = np.random.default_rng
    np.testing.assert_array_equal(
        ours.returns(parameters, rng(0)), theirs.returns(parameters, rng(0))
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((SEEN, REWARDS[:39]), r"features.shape = \(40, 3\)"),
        ((SEEN, REWARDS[:, 0]), r"rewards.shape = \(40,\)"),
        ((np.full((40, 3), np.nan), REWARDS), "a finite number"),
        ((SEEN, REWARDS, "gaussian"), "reward_kind"),
        (("text", REWARDS), "a rectangular array"),
    ],
)
def test_bad_data_are_refused(given: tuple[Any, ...], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        Contexts(*given)


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="with shared-linear"):
        sampled_from(Contexts(SEEN, REWARDS), "shared-linear")
    with pytest.raises(InputError, match="with linear"):
        sampled_from(Contexts(RNG.normal(size=(40, 4, 2)), REWARDS))
    with pytest.raises(InputError, match="contains all returns"):
        sampled_from(Contexts(SEEN, 2 * REWARDS))
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(InputError, match=r"an \.npz archive"):
        sampled_from(str(tmp_path / "text.npz"))
    np.savez(tmp_path / "half.npz", features=SEEN)
    with pytest.raises(InputError, match="the field 'rewards'"):
        sampled_from(str(tmp_path / "half.npz"))
