"""What bits of the return leave possible: effects of actions, and what policies are worth."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.learning.preferences import believe
from ldprl.learning.ranges import mean_return
from ldprl.learnt.models import DRAWS
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import RECENCY, ReturnBits
from ldprl.shape import FloatArray, Shape
from ldprl.statistics import Effects
from ldprl.structure import Structure

Answered = Iterable[tuple[Assignment, int]]
"""Every assignment that was reported under, with the number of its reports."""
LEVEL = 1e-5
"""Effects are significant if noise alone would look like them with a smaller probability, by the χ²
law. Plans that follow the noise bend that law: in five worlds without effects, 3 to 100 states and
200 to 3,000 users, at most 1 run of 600 was significant, and at a level of 10⁻³ up to 16 were."""
_LEAST_TRIED = 10.0
"""Users, of average weight, whose information a direction must have to be looked at."""


def values_from_effects(
    mechanism: ReturnBits,
    plan: Plan,
    effects: Effects,
    latest: tuple[float, float],
    earliest: tuple[float, float],
    structure: Structure | None = None,
) -> FloatArray:
    """Return the three values within the errors of what bits of the return say, (DRAWS, 3).

    What is handed out now is worth the mean return of the latest users, and acting at random that
    of the first, whose tables were drawn when nothing was known. The effect of an action in a state
    is what the return gains if all users take it there. So the best policy is worth what the best
    action of every state adds, to first order: as if states were visited as often as now, and
    without what only several changes together would gain.

    Parameters
    ----------
    mechanism, plan
        The randomizer of the bits, and the plan in force.
    effects
        The sums of all users.
    latest, earliest
        :func:`mean_of` the latest users and of the first.
    structure
        What is publicly known of the problem.
    """
    shape, rng = mechanism.shape, np.random.default_rng(0)
    structure = Structure(shape) if structure is None else structure
    belief = believe(effects.scores[0], effects.information[0], structure)
    spread, unit = np.linalg.cholesky(belief.covariance), _unit(mechanism, plan)
    advised = advised_actions(shape, plan)[0]
    found = np.empty((DRAWS, 3))
    for draw in range(DRAWS):
        chance = rng.standard_normal(belief.mean.shape)
        effect = belief.mean + np.einsum("sab,sb->sa", spread, chance)
        best = np.where(structure.choices, effect, -np.inf).max(axis=1)
        gain = unit * float((best - (advised * effect).sum(axis=1)).sum())
        value, at_random = rng.normal(*latest), rng.normal(*earliest)
        found[draw] = value + gain, at_random, value
    return np.clip(found, 0.0, shape.horizon)


def mean_of(mechanism: ReturnBits, effects: Effects, answered: Answered) -> tuple[float, float]:
    """Return the mean return of the latest of those who ``answered``, and its standard error."""
    weights = [
        float(question.weights[0])
        for one, _ in answered
        for question in one.questions
        if isinstance(question.what, Return)
    ]
    thresholds = effects.thresholds / max(weights, default=1.0) ** RECENCY
    return mean_return(thresholds, mechanism.shape.horizon, float(mechanism.spread(0.5)))


def advised_actions(shape: Shape, plan: Plan) -> FloatArray:
    """Return the share of users who are given each action, of shape (H, S, A)."""
    advised = np.zeros((shape.horizon, shape.states, shape.actions))
    for assignment in plan:
        advised += assignment.share * assignment.chances(shape)
    return advised


def beyond_noise(effects: Effects, users: int) -> bool:
    """Return whether effects of actions on the return stand out from noise.

    Without effects Σ_s u(s)ᵀΛ(s)⁻u(s)/φ is χ² distributed, with the degrees of freedom of Λ.
    φ is the mean square of the answers. It is near 1, and with thousands of degrees of freedom a
    per cent of it would look like an effect. What few users have tried is left out: its square is
    far from χ².
    """
    from scipy.special import chdtrc

    sizes, axes = np.linalg.eigh(effects.information[0])
    along = np.einsum("sab,sa->sb", axes, effects.scores[0])
    squares, weights = effects.squares.tolist()
    # Chances sum to 1, so that one direction of every state holds no information.
    nothing = 1e-9 * np.maximum(sizes[:, -1:], 1e-300)
    known = sizes > np.maximum(_LEAST_TRIED * weights / max(users, 1), nothing)
    total, freedom = float((along[known] ** 2 / sizes[known]).sum()), int(known.sum())
    return bool(freedom and chdtrc(freedom, total * weights / squares) < LEVEL)


def _unit(mechanism: ReturnBits, plan: Plan) -> float:
    """Return what an effect of 1 on the standardized bits is in rewards.

    In a band of width w, whose bits have the standard deviation σ, a return that is higher by g on
    average changes them by g_band/(w·σ). Bands have users in proportion to w·σ, so that the mean
    over bands is g/Σwσ.
    """
    widths = {}
    for one in plan:
        for question in one.questions:
            if isinstance(what := question.what, Return) and what.scored:
                spread = float(mechanism.spread(what.expected / UNIT))
                widths[what.low, what.high] = (what.high - what.low) / UNIT * spread
    return sum(widths.values())
