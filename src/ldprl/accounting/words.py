"""Phrases about privacy for readers without training."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from fractions import Fraction

from ldprl.rounding import at_most

_WIDTH = 80
_LARGEST = 1e9
"""Odds above this are not written out."""


def odds(epsilon: float) -> str:
    """Write e^ε, the most by which odds change, rounded up."""
    if epsilon > math.log(_LARGEST):
        return "more than a billion"
    factor = math.exp(epsilon)
    return f"{math.ceil(factor):,}" if factor >= 100 else at_most(factor)


def at_most_sure(epsilon: float) -> str:
    """Write how sure somebody can become for whom two things were equally likely before."""
    sure = 1 / (1 + math.exp(-epsilon))
    return "almost" if sure > 0.999 else f"at most {percent(sure)}"


def percent(probability: float) -> str:
    """Write a probability in per cent, rounded up."""
    return f"{math.ceil(1000 * probability) / 10:g}%"


def chance(probability: float) -> str:
    """Write a small probability as 1 in N, a large one in per cent, rounded up."""
    if probability > 0.2:
        return percent(probability)
    # By its decimal digits: in floating point 1/0.00001 is a little less than 100,000.
    return f"1 in {math.floor(1 / Fraction(repr(float(probability)))):,}"


def paragraph(text: str, indent: str = "", bullet: str = "") -> str:
    """Fold text into lines, but never within an equation."""
    kept = text.replace(" = ", "\u00a0=\u00a0")
    folded = textwrap.fill(kept, _WIDTH, initial_indent=bullet, subsequent_indent=indent)
    return folded.replace("\u00a0", " ")


def bullets(head: str, items: Iterable[str]) -> str:
    """Write a list under its heading."""
    return "\n".join([paragraph(head), *(paragraph(item, "  ", "- ") for item in items)])
