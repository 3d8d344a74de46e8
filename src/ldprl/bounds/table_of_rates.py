"""Table 1 of the paper, generated: what LDP-OBI guarantees with each randomizer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ldprl.bounds.lower import sizes_of
from ldprl.errors import one_of, positive, probability
from ldprl.mechanisms.mechanism import Constants


@dataclass(frozen=True)
class TableRow:
    """One randomizer of table 1.

    Attributes
    ----------
    mechanism, noise
        Which randomizer, and the law of its noise.
    level, epsilon, delta
        Its (ε, δ)-LDP level, as text and as numbers.
    regret, order
        Order of LDP-OBI's regret, as text and as a number (constant 1, logarithms dropped).
    step_dependent, step_dependent_order
        By which factor a step-dependent model multiplies the regret, and the order with it.
    """

    mechanism: str
    noise: str
    level: str
    epsilon: float
    delta: float
    regret: str
    order: float
    step_dependent: str
    step_dependent_order: float


def table_one(
    states: int,
    actions: int,
    horizon: int,
    *,
    episodes: int,
    epsilon: float,
    delta: float,
    constants: Constants = "sound",
) -> list[TableRow]:
    """Return table 1 for given S, A, H, K, ε and δ₀, with naive composition as its last row.

    Orders follow from the main theorem's H²S²A·c_{K,4}. They leave out HS√(AT), the regret without
    privacy, which dominates once ε is large. ``sound`` differs from ``paper`` in this:

    - *Gaussian*: the printed N(0, (H/ε)²) lacks c. The appendix has c² = 4 ln(24/δ₀), which is not
      private for small δ₀ even where ε ≤ 1; c² = 12 ln(1.25/δ₀) is, by the classical theorem with
      L2 sensitivity √(4H² + 2(H−1)²) ≤ √6·H.
    - *Randomized response*: the printed Ber(1/(e^{ε/H} − 1)) exceeds 1 for small ε. A bit is
      flipped with probability 1/(e^{ε₀} + 1), and ε₀ = ε/(6H) by the appendix's proposition.
    - *Bounded noise*: the printed H² leaves out that ε₀ = ε/(3H), which makes H³:
      c_{K,4} = R₂√K up to logarithms, with R₂ = (S/ε₀)·√(A ln(1/δ₀)).
    - *Step-dependent models*: the footnote in section 2 multiplies by H√H; H is enough. There are
      H times as many cells, and each has an error law no larger than before up to logarithms
      (see :func:`~ldprl.bounds.regret_upper_bound`).

    *Naive composition* over S²A counters of sensitivity H is quoted from section 5 in both: noise
    that makes one step of one counter ε-LDP is only S²AHε-LDP, which leads to H⁴S⁴A²√K/ε (H³ would
    do, by the same theorem, with c_{K,4} = S²AH√K/ε).
    """
    states, actions, horizon, episodes = sizes_of(states, actions, horizon, episodes)
    epsilon = positive("epsilon", epsilon)
    delta = probability("delta", delta, zero=False)
    sound = one_of("constants", constants, ("sound", "paper")) == "sound"
    scale = states**2 * actions * math.sqrt(episodes) / epsilon
    tail = math.sqrt(math.log(1 / delta))
    factor, step_dependent = (horizon, "H") if sound else (horizon**1.5, "H√H")
    entries = [
        ("Laplace", "Lap(6H/ε)", "(ε, 0)", epsilon, 0.0, "H³S²A√K/ε", horizon**3 * scale),
        (
            "Gaussian",
            "N(0, (cH/ε)²), c² = 12 ln(1.25/δ₀), ε ≤ 1" if sound else "N(0, (H/ε)²)",
            "(ε, δ₀)",
            epsilon,
            delta,
            "H³S²A√(K ln(1/δ₀))/ε",
            horizon**3 * scale * tail,
        ),
        (
            "Randomized response",
            "each bit flipped by Ber(1/(e^{ε/(6H)} + 1))" if sound else "Ber(1/(e^{ε/H} − 1))",
            "(ε, 0)",
            epsilon,
            0.0,
            "H^{7/2}S²A√K/ε",
            horizon**3.5 * scale,
        ),
        (
            "Bounded noise",
            "μ_{DE,R} on (−R, R)",
            "(ε, δ₀)",
            epsilon,
            delta,
            f"{'H³' if sound else 'H²'}S³A^{{3/2}}√(K ln(1/δ₀))/ε",
            horizon ** (3 if sound else 2) * states * math.sqrt(actions) * scale * tail,
        ),
        (
            "Naive composition",
            "each counter by itself",
            "(S²AHε, 0)",
            states**2 * actions * horizon * epsilon,
            0.0,
            "H⁴S⁴A²√K/ε",
            horizon**4 * states**2 * actions * scale,
        ),
    ]
    return [TableRow(*entry, step_dependent, factor * entry[-1]) for entry in entries]
