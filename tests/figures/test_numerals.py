"""Numbers and lists."""

from __future__ import annotations

import pytest

from ldprl.figures.numerals import listing, number, power, power_of_ten


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
