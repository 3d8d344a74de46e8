"""One reading of ``growth:G`` for simulations and deployments."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ldprl.pace import growth_of


def test_growth_is_read_in_decimals() -> None:
    assert growth_of("growth:0.07") == Decimal("0.07")


@pytest.mark.parametrize("text", ["each", "growth", "growth:", "growth:0", "growth:-1", "growth:x"])
def test_other_text_has_no_growth(text: str) -> None:
    assert growth_of(text) is None


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "snan"])
def test_growth_is_finite(value: str) -> None:
    assert growth_of(f"growth:{value}") is None
