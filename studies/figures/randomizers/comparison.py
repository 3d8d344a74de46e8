"""How well a randomizer serves planning: the variance of the estimates that planning needs.

Planning needs r(s, a) + p(·|s, a)ᵀV of a row. With o the share of users in s at each step, all of
whom play a, the error of θ̂ = R̃/Ñ is D/N, so K users leave a variance of

    (1/K) · [v_out(θ)(1 − o) + v_in(θ)·o] / (share·o²)

with v_out and v_in those of :class:`~ldprl.mechanisms.row_laws.RowLaw`. Figures are K times the
variance, which is also the number of users that a variance of 1 takes.

Rewards are taken at r = 1/2, transitions at uniform p(·|s, a). For those, and for whatever treats
items alike, Var(p̂ᵀV) = c²·Σ_{s'} Var p̂(s'), with c² the sample variance of V over the states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ldprl.mechanisms.row_laws import Quadratic, RowLaws
from ldprl.mechanisms.subset_laws import row_variances
from ldprl.shape import Shape
from studies.figures.randomizers.oracles import SUBSETS, OracleFormula


@dataclass(frozen=True)
class AskedRow:
    """The row that is asked for.

    Attributes
    ----------
    shape
        Sizes of the problem; H ≥ 2, so that there are transitions.
    occupancy
        o, the share of users who are in its state, at each step alike.
    spread
        c, the standard deviation of the values V over the next states.
    """

    shape: Shape
    occupancy: float
    spread: float = 0.5

    @classmethod
    def typical(cls, shape: Shape) -> AskedRow:
        """Return a row whose state one user in S is in."""
        return cls(shape, 1 / shape.states)


@dataclass(frozen=True)
class Needs:
    """K times the variance of a row's mean reward, of its transitions (summed over s'), of both."""

    reward: float
    transitions: float
    value: float


def counting(laws: RowLaws, row: AskedRow) -> Needs:
    """Return what is left by counters of the whole trajectory, randomized by these laws."""
    shape = row.shape
    visits = row.occupancy * shape.most_visits
    leaving = row.occupancy * shape.most_moves
    reward = _noise_and_visits(laws.rewards.outside, laws.rewards.inside, 0.5, visits)
    even = 1 / shape.states
    moves = _noise_and_visits(laws.transitions.outside, laws.transitions.inside, even, leaving)
    return _together(row, reward / visits**2, shape.states * moves / leaving**2)


def separate(
    row: AskedRow, epsilon: float, oracle: OracleFormula = SUBSETS, answers: int = 1
) -> Needs:
    """Return what is left by questions about (s, bit) and (s, s'), in the best shares.

    A user answers ``answers`` questions about as many steps, with ε/answers each.
    """
    shape, each = row.shape, epsilon / answers
    states = shape.states
    reward = shape.models * _asked(row, oracle, 2 * states + 1, each, 2, 0.5)
    moves = _asked(row, oracle, states**2 + 1, each, states, 1 / states)
    moves *= states * shape.transition_models
    return _shared(row, reward, moves, answers)


def joint(
    row: AskedRow, epsilon: float, oracle: OracleFormula = SUBSETS, answers: int = 1
) -> Needs:
    """Return what is left by questions about (s, bit, s'), with ε/answers for each answer."""
    shape, each = row.shape, epsilon / answers
    states, items = shape.states, 2 * shape.states**2 + 1
    reward = shape.models * _asked(row, oracle, items, each, 2, 0.5, width=states)
    moves = states * _asked(row, oracle, items, each, states, 1 / states, width=2)
    moves *= shape.horizon / (shape.horizon - 1) * shape.transition_models
    return _together(row, reward / answers, moves / answers)


def one_state(row: AskedRow, epsilon: float) -> Needs:
    """Return what is left by "were you in this state, and what came of it".

    As many users are asked about a state as are expected in it, a share o for this one.
    """
    shape, states, asked = row.shape, row.shape.states, row.occupancy
    reward = shape.models * _asked(row, SUBSETS, 3, epsilon, 2, 0.5)
    moves = states * _asked(row, SUBSETS, states + 1, epsilon, states, 1 / states)
    return _shared(row, reward / asked, moves * shape.transition_models / asked)


def value_bit(row: AskedRow, epsilon: float) -> Needs:
    """Return what is left by questions about (s, bit) and (s, bit of V(s')), for one fixed V.

    V has two values here, 2c apart. Nothing is learnt about p(·|s, a) but pᵀV.
    """
    items = 2 * row.shape.states + 1
    bit = _asked(row, SUBSETS, items, epsilon, 2, 0.5)
    reward, value = row.shape.models * bit, row.shape.transition_models * bit
    both = _shared(row, reward, 4 * value)
    return Needs(both.reward, math.inf, both.value)


def many_answers(row: AskedRow, epsilon: float) -> Iterator[tuple[int, Needs]]:
    """Yield, for m = 1, …, H answers of a user, what subset selection leaves in its best layout."""
    for m in range(1, row.shape.horizon + 1):
        layouts = (separate(row, epsilon, answers=m), joint(row, epsilon, answers=m))
        yield m, min(layouts, key=lambda needs: needs.value)


def _asked(
    row: AskedRow,
    oracle: OracleFormula,
    items: int,
    epsilon: float,
    cells: int,
    theta: float,
    width: int = 1,
) -> float:
    """Return E D²/o² of a user who is asked."""
    outside, inside = row_variances(oracle.moments(items, epsilon, width), cells)
    return _noise_and_visits(outside, inside, theta, row.occupancy) / row.occupancy**2


def _noise_and_visits(outside: Quadratic, inside: Quadratic, theta: float, visits: float) -> float:
    noise = _at(outside, theta)
    return noise + visits * (_at(inside, theta) - noise)


def _at(quadratic: Quadratic, theta: float) -> float:
    return quadratic[0] + theta * (quadratic[1] + theta * quadratic[2])


def _together(row: AskedRow, reward: float, moves: float) -> Needs:
    return Needs(reward, moves, reward + row.spread**2 * moves)


def _shared(row: AskedRow, reward: float, moves: float, answers: int = 1) -> Needs:
    """Share the answers between rewards and transitions so that the value has least variance.

    The share of rewards is √r/(√r + c√p); no user can be asked about more than H − 1 transitions.
    """
    wanted = math.sqrt(reward), row.spread * math.sqrt(moves)
    share = max(wanted[0] / sum(wanted), 1 - (row.shape.horizon - 1) / answers)
    return _together(row, reward / (share * answers), moves / ((1 - share) * answers))
