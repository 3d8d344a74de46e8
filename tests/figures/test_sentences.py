"""Numbers, lists and sentences."""

from __future__ import annotations

import pytest

from ldprl.figures.sentences import (
    beside_sound,
    learning,
    listing,
    near_linear,
    number,
    power,
    power_of_ten,
)
from tests.figures.fake import curve


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


def test_other_words() -> None:
    assert [listing(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert (power(10**8), power(1_000), power(5_000)) == ("10⁸", "1,000", "5,000")
    assert [power_of_ten(value) for value in (0.01, 1, 10, 1e8)] == ["10⁻²", "1", "10", "10⁸"]


@pytest.mark.parametrize(
    ("powers", "verdict"),
    [
        ((0.97, 0.95), "as the paper says"),
        ((0.97, 0.6), "for LDP-OBI only"),
        ((0.5, 0.6), "not “almost linear”"),
    ],
)
def test_near_linear(powers: tuple[float, float], verdict: str) -> None:
    curves = [curve(power=powers[0]), curve(power=powers[1], learner="ldp-psrl")]
    assert verdict in near_linear(curves)


def test_learning() -> None:
    assert "all of them are learning" in learning([curve(power=0.5), curve(power=0.9)])
    said = learning([curve(power=0.5), curve(power=1.1, epsilon=0.2)])
    assert "does not fall for LDP-OBI at ε = 0.2: no sign of learning there" in said


def test_beside_sound_gives_the_ratio() -> None:
    said = beside_sound([curve(300.0), curve(100.0, constants="sound")])
    assert "ε = 2: 3.00 for LDP-OBI" in said
