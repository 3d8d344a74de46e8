"""Options that are numbers: read here, so that an error names option and value."""

from __future__ import annotations

from ldprl.errors import InputError


def count(field: str, text: str, at_least: int = 1, at_most: int = 10**12) -> int:
    """Read a whole number in a range, in digits or as 1e8.

    Beyond 10¹² users the summed noise of a small ε no longer fits into 64 bits.
    """
    from ldprl.mdp.specification import count as whole

    number = whole(field, text)
    if not at_least <= number <= at_most:
        raise InputError(field, text, f"a whole number from {at_least} to {at_most:.0e}")
    return number


def decimal(field: str, text: str) -> float:
    """Read a number; the library checks its range."""
    try:
        return float(text)
    except ValueError:
        raise InputError(field, text, "a number") from None
