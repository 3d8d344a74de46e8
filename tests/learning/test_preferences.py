"""Beliefs about effects, and the law of actions that follows."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from ldprl.learning import preferences
from ldprl.learning.preferences import believe, believe_a_step
from ldprl.shape import FloatArray, IntArray, Shape
from ldprl.structure import Structure


def _information(users: float, cells: int) -> FloatArray:
    return np.tile(users * (np.eye(2) / 2 - 1 / 4), (cells, 1, 1))


@pytest.mark.parametrize("lead", [0.0, 1.0, 3.0, 4.9, 5.1, 8.0, 30.0])
def test_odds_are_expected_gain_over_expected_loss(lead: float) -> None:
    scores = np.array([[lead, -lead], [-lead, lead]] * 20)
    belief = believe(scores, _information(100.0, 40), Structure(Shape(40, 2, 1)))
    odds = belief.odds
    # By hand: information 100·(¼, −¼; −¼, ¼), scatter as stated.
    own, squared = 25.0, 40 * 4 * 25.0**2
    scatter = max(80 * (lead**2 - own), np.sqrt(80 * 2 * own**2)) / squared
    assert belief.scatter[0] == pytest.approx(scatter)
    precision = 50 + 1 / scatter
    mean, spread = 2 * lead / precision, np.sqrt(2 / precision)
    gain = quad(lambda x: x * norm.pdf(-x, mean, spread), 0, 40 * spread)[0]
    loss = quad(lambda x: x * norm.pdf(x, mean, spread), 0, mean + 40 * spread)[0]
    assert odds[0, 1] == pytest.approx(gain / loss, rel=0.02)
    assert odds[0, 0] == 1
    assert belief.lead.tolist() == ([0, 1] if lead else [0, 0]) * 20


def test_a_cell_with_large_effects_is_decided_before_those_with_small_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Noise in 100 cells, and in the first an effect of six standard deviations.
    noise = np.random.default_rng(0).normal(scale=math.sqrt(25.0), size=(100, 1))
    noise[0] = 6 * math.sqrt(25.0)
    scores, information = np.hstack([noise, -noise]), _information(100.0, 100)
    known = Structure(Shape(100, 2, 1))
    own = believe(scores, information, known).odds[:, 1]
    monkeypatch.setattr(preferences, "_OWN", 1e12)
    common = believe(scores, information, known).odds[:, 1]
    assert own[0] < common[0] / 3
    # Where there is no more than noise, hardly anything changes: no action is given up for it.
    trailing = np.flatnonzero(noise[1:, 0] > 0) + 1
    assert np.all(own[trailing] > common[trailing] - 0.1)


def test_nothing_known_is_nothing_preferred() -> None:
    belief = believe(np.zeros((3, 4)), np.zeros((3, 4, 4)), Structure(Shape(3, 4, 1)))
    assert np.all(belief.odds == 1)


def test_a_step_is_like_the_others_until_there_is_evidence() -> None:
    known = Structure(Shape(1, 2, 2))
    many = believe(np.array([[60.0, -60.0]]), _information(1000.0, 1), known)
    assert many.lead.tolist() == [0]
    nothing = believe_a_step(np.zeros((1, 2)), np.zeros((1, 2, 2)), many, 0.5, known)
    np.testing.assert_allclose(nothing.mean, many.mean / 2)
    assert nothing.scatter[0] == pytest.approx(many.scatter[0] / 4)
    some = believe_a_step(np.array([[-60.0, 60.0]]), _information(1000.0, 1), many, 0.5, known)
    assert some.lead.tolist() == [1]


def _in_numpy(
    scores: FloatArray, information: FloatArray, groups: IntArray, lean: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean effects and the odds, by the formulas in the docstrings."""
    unit, own = np.eye(scores.shape[1]), np.einsum("caa->ca", information)

    def scatter(surplus: FloatArray) -> float:
        squared = (information**2).sum()
        least = np.sqrt(2 * (own**2).sum()) / squared
        return float(max((surplus**2 - own).sum() / squared, least))

    expected = np.zeros_like(scores)
    for together in (np.zeros_like(groups), groups):
        surplus = scores - np.einsum("cab,cb->ca", information, expected)
        share = np.linalg.inv(unit + scatter(surplus) * information)
        members = np.eye(groups.max() + 1)[together]
        scored = members.T @ np.einsum("cab,cb->ca", share, surplus)
        weight = np.einsum("cg,cab->gab", members, share @ information)
        excess = (scored**2 - np.einsum("gaa->ga", weight)).sum()
        if excess > 0:
            common = weight + (weight**2).sum() / excess * unit
            expected += members @ np.linalg.solve(common, scored[..., None])[..., 0]
    surplus = scores - np.einsum("cab,cb->ca", information, expected)
    tau = np.full((len(scores), 1), scatter(surplus))
    for last in (False,) * preferences._ROUNDS + (True,):
        covariance = np.linalg.inv(information + unit / tau[:, :, None])
        mean = np.einsum("cab,cb->ca", covariance, surplus + lean / np.sqrt(tau))
        if not last:
            squares = (mean**2 + np.einsum("caa->ca", covariance)).sum(axis=1, keepdims=True)
            tau = (squares + preferences._OWN * scatter(surplus)) / (4 + preferences._OWN)
    mean += expected
    lead, cells = mean.argmax(axis=1), np.arange(len(mean))
    variance = np.einsum("caa->ca", covariance)
    variance = variance + variance[cells, lead][:, None] - 2 * covariance[cells, lead]
    z = (mean[cells, lead][:, None] - mean) / np.sqrt(np.where(variance > 0, variance, 1.0))
    gain, loss = norm.pdf(z) - z * norm.sf(z), norm.pdf(z) + z * norm.cdf(z)
    return mean, gain / loss


def test_compiled_code_says_what_the_formulas_say() -> None:
    rng, cells, actions = np.random.default_rng(3), 30, 4
    chances = rng.dirichlet(np.ones(actions), cells)
    unit = np.eye(actions)
    information = chances[..., None] * (unit - chances[:, None]) * rng.gamma(1, 300, (cells, 1, 1))
    drawn = [rng.multivariate_normal(np.zeros(actions), one) for one in information]
    effects = 0.05 * rng.normal(size=(cells, actions)) + np.array([0.2, 0.0, 0.0, 0.0])
    scores = np.array(drawn) + np.einsum("cab,cb->ca", information, effects)
    groups = np.arange(cells) % 3
    document = {"groups": groups.tolist(), "incumbent": [1] * cells}
    known = Structure.from_document(document, Shape(cells, actions, 1))
    found = believe(scores, information, known)
    lean = np.tile(np.eye(actions)[1], (cells, 1))
    mean, odds = _in_numpy(scores, information, groups, lean)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.odds, odds, rtol=1e-5, atol=1e-9)
    # A mutant: without the incumbent's lean both differ.
    assert np.abs(found.mean - _in_numpy(scores, information, groups, 0 * lean)[0]).max() > 1e-3


def test_other_actions_than_the_admissible_are_never_drawn() -> None:
    known = Structure.from_document({"admissible": [[0, 2], [1], [0, 1, 2, 3]]}, Shape(3, 4, 2))
    rng = np.random.default_rng(0)
    for users in (0, 10**4):
        information = users * np.tile(np.eye(4) / 4 - 1 / 16, (3, 1, 1))
        # The others look best.
        scores = rng.normal(size=(3, 4)) * math.sqrt(users) + 100 * users * ~known.choices
        belief = believe(scores, information, known)
        assert np.all(belief.odds[~known.choices] == 0)
        assert np.all(belief.odds[np.arange(3), belief.lead] == 1)
        assert known.choices[np.arange(3), belief.lead].all()


def test_an_incumbent_leads_until_reports_speak_against_it() -> None:
    shape = Shape(2, 3, 2)
    known = Structure.from_document({"incumbent": [2, 1]}, shape)
    belief = believe(np.zeros((2, 3)), np.zeros((2, 3, 3)), known)
    assert belief.lead.tolist() == [2, 1]
    assert 0.05 < belief.odds[0, 0] < 0.5
    information = 1e4 * np.tile(np.eye(3) / 3 - 1 / 9, (2, 1, 1))
    scores = np.tile([1000.0, -500.0, -500.0], (2, 1))
    assert believe(scores, information, known).lead.tolist() == [0, 0]


def test_states_of_a_group_learn_from_each_other() -> None:
    """An effect too small to be seen in one state is seen in a hundred of a group."""
    shape = Shape(100, 2, 1)
    known = Structure.from_document({"groups": [0] * 50 + [1] * 50}, shape)
    rng = np.random.default_rng(1)
    information = 100 * np.tile(np.eye(2) / 2 - 1 / 4, (100, 1, 1))
    better = np.repeat([0, 1], 50)
    push = np.where(np.arange(2) == better[:, None], 1.0, -1.0)
    scores = 0.5 * 5 * push + rng.normal(size=(100, 1)) * 5 * np.array([1.0, -1.0])
    alone, together = (believe(scores, information, one).lead for one in (Structure(shape), known))
    assert np.mean(alone == better) < 0.8
    assert np.mean(together == better) > np.mean(alone == better) + 0.1


def test_what_many_states_have_in_common_is_learnt_from_all_of_them() -> None:
    """An effect too small to be seen in one state is seen in fifty, unless they all differ."""
    information = 100 * np.tile(np.eye(2) / 2 - 1 / 4, (50, 1, 1))
    noise = np.random.default_rng(2).normal(size=(50, 1)) * 5 * np.array([1.0, -1.0])
    push = 0.6 * 5 * np.array([1.0, -1.0])
    signs = np.where(np.arange(50) % 2, 1.0, -1.0)[:, None]
    known = Structure(Shape(50, 2, 1))
    alike = believe(push + noise, information, known)
    # By hand, without anything in common: an action leads where its own score does.
    assert np.mean((push + noise)[:, 0] > 0) < 0.85
    assert np.mean(alike.lead == 0) > 0.95
    unlike = believe(signs * push + noise, information, known)
    assert np.array_equal(unlike.lead == 0, (signs * push + noise)[:, 0] > 0)
    # Few states: what they have in common may be chance.
    few = believe((push + noise)[:20], information[:20], Structure(Shape(20, 2, 1)))
    assert np.array_equal(few.lead == 0, (push + noise)[:20, 0] > 0)
