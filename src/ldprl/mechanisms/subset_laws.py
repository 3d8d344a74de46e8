"""How subset selection scatters: variance and range of cells and rows, from exact moments."""

from __future__ import annotations

from functools import lru_cache

from ldprl.mechanisms.row_laws import FAIR_COIN, Quadratic, RowLaw, RowLaws
from ldprl.mechanisms.subset import CellMoments, SubsetOracle


def reach(oracle: SubsetOracle, width: int) -> tuple[float, float]:
    """Return the most that one report's decoded count in a cell can be, and the most below 0."""
    low = width * float(oracle.chance) / oracle.contrast
    return min(width, oracle.size) / oracle.contrast - low, low


@lru_cache
def cell_error(oracle: SubsetOracle, width: int) -> tuple[float, float]:
    """Return variance and bound of one report's error in a cell of ``width`` items."""
    moments = CellMoments.of(oracle, width)
    high, low = reach(oracle, width)
    return max(moments.outside, moments.inside - 1), max(high, low + 1)


def row_variances(moments: CellMoments, cells: int) -> tuple[Quadratic, Quadratic]:
    """Return E D² of D = F_1 − θ·ΣF over a row, with the own item outside of it and inside.

    With G₁ = Σg = 1 − nθ and G₂ = Σg² = 1 − 2θ + nθ² for g = e₁ − θ·1:
    outside = (b − c₂)G₂ + c₂G₁², and a visit adds θ(1 − θ)·(a − 2c − b + 2c₂), because its own
    cell has g of mean 0 and variance θ(1 − θ).
    """
    m, n = moments, cells
    spread = m.outside - m.apart
    outside = (spread + m.apart, -2 * spread - 2 * n * m.apart, n * spread + n * n * m.apart)
    extra = m.inside - 2 * m.across - m.outside + 2 * m.apart
    inside = (outside[0], outside[1] + extra * FAIR_COIN[1], outside[2] + extra * FAIR_COIN[2])
    return outside, inside


@lru_cache
def row_law(oracle: SubsetOracle, cells: int, width: int) -> RowLaw:
    """Return the law of D = F_1 − θ·ΣF over a row of ``cells`` cells of ``width`` items each."""
    m, n = CellMoments.of(oracle, width), cells
    spread = m.outside - m.apart
    outside, inside = row_variances(m, cells)
    high, low = reach(oracle, width)
    others, _ = reach(oracle, (n - 1) * width)
    rest = n - 1
    return RowLaw(
        outside=outside,
        inside=inside,
        up=(high, rest * low - high),
        down=(low, others - low),
        row_outside=n * spread + n * n * m.apart,
        row_inside=m.inside + 2 * rest * m.across + rest * spread + rest * rest * m.apart - 1,
        row_down=n * low + 1,
    )


def typical_variance(laws: RowLaws, visited: float) -> float:
    """Return the variance of an answer's terms at θ = 1/2, if a share of users visits the row."""

    def at_half(quadratic: Quadratic) -> float:
        return quadratic[0] + quadratic[1] / 2 + quadratic[2] / 4

    return sum(
        at_half(law.outside) * (1 - visited) + at_half(law.inside) * visited
        for law in (laws.rewards, laws.transitions)
    )
