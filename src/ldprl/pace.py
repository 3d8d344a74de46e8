"""How fast the number of users grows between two plans, as simulations and deployments name it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation


def growth_of(text: str) -> Decimal | None:
    """Return the G > 0 of ``growth:G``, and None of any other text."""
    kind, _, value = text.partition(":")
    if kind != "growth":
        return None
    try:
        factor = Decimal(value)
    except InvalidOperation:
        return None
    return factor if factor.is_finite() and factor > 0 else None
