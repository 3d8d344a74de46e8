"""How fast the number of users grows between two plans, as simulations and deployments name it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation


def growth_of(text: str) -> Decimal | None:
    """Return the number G of ``growth:G``, whatever it is, and None of any other text."""
    kind, _, value = text.partition(":")
    if kind != "growth":
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None
