"""Users who report more than once share a total ε."""

from __future__ import annotations

import pytest

from ldprl.advice.returning import Returning
from ldprl.errors import InputError


def test_without_delta_the_reports_add_up() -> None:
    weekly = Returning(52)
    assert weekly.each(8.0) == 0.1538
    assert weekly.total(0.1538) == pytest.approx(52 * 0.1538)
    assert Returning().each(0.3) == 0.3


@pytest.mark.parametrize(("reports", "delta"), [(52, 1e-6), (300, 1e-8)])
def test_with_a_small_delta_a_report_may_have_more(reports: int, delta: float) -> None:
    found = Returning(reports, delta)
    each = found.each(2.0)
    assert each > 1.2 * Returning(reports).each(2.0)
    assert found.total(each) <= 2.0
    assert found.total(1.002 * each) > 2.0


def test_bad_input_is_named() -> None:
    for field, build in (
        ("reports_per_user", lambda: Returning(0)),
        ("reports_per_user", lambda: Returning(10**6)),
        ("total_delta", lambda: Returning(2, 1.0)),
        ("total_epsilon", lambda: Returning(2).each(-1.0)),
    ):
        with pytest.raises(InputError) as refused:
            build()
        assert refused.value.field == field
