"""One reading of ``growth:G`` for simulations and deployments."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ldprl.pace import growth_of


@pytest.mark.parametrize("value", ["0.07", "0", "-1", "inf"])
def test_growth_is_read_in_decimals(value: str) -> None:
    assert growth_of(f"growth:{value}") == Decimal(value)


@pytest.mark.parametrize("text", ["each", "growth", "growth:", "growth:x", "every:5"])
def test_other_text_has_no_growth(text: str) -> None:
    assert growth_of(text) is None
