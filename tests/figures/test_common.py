"""Curves, labels, words and worlds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldprl.errors import InputError
from ldprl.figures.cells import LEAST_GAP, best_value, draws, first_draw, gap
from ldprl.figures.curves import curves_of
from ldprl.figures.drawing import spread
from ldprl.figures.page import prose
from ldprl.figures.sentences import listing, number, power, power_of_ten
from ldprl.figures.settings import Settings
from ldprl.mdp import policy_values, random_mdp
from tests.figures import fake


def test_a_table_gives_its_curves_back() -> None:
    given_curves = [fake.curve(3.0), fake.curve(5.0, epsilon=20.0), fake.curve(7.0, learner="psrl")]
    found = curves_of(fake.table(given_curves))
    assert len(found) == 3
    for one, other in zip(given_curves, found, strict=True):
        assert (one.learner, one.epsilon) == (other.learner, other.epsilon)
        np.testing.assert_array_equal(one.regret, other.regret)
        np.testing.assert_array_equal(one.episodes, other.episodes)


@pytest.mark.parametrize("growth", [0.0, 0.5, 1.0])
def test_the_exponent_is_that_of_the_growth(growth: float) -> None:
    assert fake.curve(1e5, power=growth).exponent == pytest.approx(growth, abs=0.02)


def test_spread_is_that_of_the_runs() -> None:
    assert fake.curve(50.0, spread=0.4).spread == pytest.approx(0.4)


@pytest.mark.parametrize(("exact", "as_claimed"), [(0.1, True), (0.0, True), (0.100001, False)])
def test_privacy_is_as_claimed_up_to_the_claimed_delta(exact: float, as_claimed: bool) -> None:
    assert fake.curve(delta=0.1, exact=exact).as_claimed == as_claimed


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=9).map(sorted),
    st.lists(st.floats(0.01, 0.2), min_size=9, max_size=9),
)
def test_labels_keep_their_order_and_do_not_overlap(
    wanted: list[float], heights: list[float]
) -> None:
    sizes = np.array(heights[: len(wanted)])
    places = spread(np.array(wanted), sizes)
    assert places[0] >= sizes[0] / 2 - 1e-9
    for i in range(len(wanted) - 1):
        room = (sizes[i] + sizes[i + 1]) / 2
        assert places[i + 1] - places[i] >= room - 1e-9


def test_labels_with_room_stay_where_they_are() -> None:
    wanted = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(spread(wanted, np.full(3, 0.1)), wanted)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.0134, "0.013"),
        (0.5, "0.50"),
        (42.13, "42.1"),
        (1337, "1,340"),
        (9.99e7, "1.0·10⁸"),
        (2.13e-5, "2.1·10⁻⁵"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_in_sentences(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("k^0.39 (x)", "k<sup>0.39</sup> (x)"),
        ("e^20.", "e<sup>20</sup>."),
        ("Ber(1/(e^{ε/H} − 1))", "Ber(1/(e<sup>ε/H</sup> − 1))"),
        ("μ_{DE,R}", "μ<sub>DE,R</sub>"),
        ("a < b & c", "a &lt; b &amp; c"),
    ],
)
def test_prose(text: str, html: str) -> None:
    assert prose(text) == html


def test_other_words() -> None:
    assert [listing(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert (power(10**8), power(1_000), power(5_000)) == ("10⁸", "1,000", "5,000")
    assert [power_of_ten(value) for value in (0.01, 1, 10, 1e8)] == ["10⁻²", "1", "10", "10⁸"]


@pytest.mark.parametrize("seed", range(6))
def test_the_gap_is_that_of_the_best_and_the_worst_policy(seed: int) -> None:
    mdp = random_mdp(2, 2, 2, seed)
    values = [
        float(mdp.initial @ policy_values(mdp, np.array(actions).reshape(2, 2))[0])
        for actions in itertools.product(range(2), repeat=4)
    ]
    assert gap(mdp) == pytest.approx(max(values) - min(values))
    assert best_value(mdp) == pytest.approx(max(values))


def test_draws_have_something_to_learn() -> None:
    chosen = list(itertools.islice(draws(), 8))
    assert chosen[0].name == first_draw().name
    assert all(gap(place.mdp) > LEAST_GAP for place in chosen)
    seeds = [int(place.name.rsplit(",", 1)[1]) for place in chosen]
    left_out = set(range(seeds[-1])) - set(seeds)
    assert all(gap(random_mdp(2, 2, 2, seed)) <= LEAST_GAP for seed in left_out)


@pytest.mark.parametrize("field", ["episodes", "runs", "draws", "seed", "epsilons"])
def test_bad_settings_are_refused(field: str) -> None:
    bad: dict[str, Any] = {field: (2.0, -1.0) if field == "epsilons" else -1}
    with pytest.raises(InputError, match=field):
        Settings(**bad)
