"""Whether anything is learnt yet: what the sums say of the policies that are handed out."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ldprl.assignment import Plan
from ldprl.learning.ldp_ts import Belief
from ldprl.learning.preferences import believe
from ldprl.learning.ranges import mean_return
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import RECENCY, ReturnBits
from ldprl.protocol.deployment import Deployment
from ldprl.service.influence import Answered
from ldprl.service.progress import DRAWS, draw_model
from ldprl.shape import FloatArray, Shape
from ldprl.simulation.sample_size import closed_in_words, nothing_learnt, users_needed
from ldprl.statistics import Effects
from ldprl.structure import Structure

LEVEL = 1e-5
"""Effects are significant if noise alone would look like them with a smaller probability, by the χ²
law. Plans that follow the noise bend that law: in five worlds without effects, 3 to 100 states and
200 to 3,000 users, at most 1 run of 600 was significant, and at a level of 10⁻³ up to 16 were."""
_LEAST_TRIED = 10.0
"""Users, of average weight, whose information a direction must have to be looked at."""
_FIRST = 0.1
"""Users whose plan was made from less than this share of those who are typically needed act almost
at random. Laws that lean are worth up to 12% of the gap more than a uniform one (on
RiverSwim; below 2% on random problems, grids and FrozenLake)."""
_MOST_STATES = 200
"""More states are not built to see what a typical problem needs: users grow as their square, which
from 25 to 400 states is right within a tenth."""


def learning(
    deployment: Deployment, users: int, values: FloatArray, significant: bool | None = None
) -> dict[str, Any]:
    """Return three values, the share of the gap closed, and what that means in a sentence.

    Parameters
    ----------
    deployment
        What is served.
    users
        How many have reported.
    values
        Of the best policy, of acting at random and of what is handed out now, in ``DRAWS`` draws
        from what is believed; of shape (DRAWS, 3). Their medians are returned.
    significant
        Whether something is learnt; None if that is so where acting at random is worse in 95% of
        the draws. If not, ``users_needed`` is what :func:`typical_need` says.
    """
    best, at_random, now = values.T
    closed = np.clip((now - at_random) / np.maximum(best - at_random, 1e-12), 0, 1)
    low, share, high = np.quantile(closed, [0.05, 0.5, 0.95]).tolist()
    sure = bool(low > 0) if significant is None else significant
    middle = [round(float(value), 4) for value in np.median(values, axis=0)]
    found = dict(zip(("best_value", "random_value", "value"), middle, strict=True))
    needed, epsilon = None, float(deployment.epsilon)
    if sure:
        said = closed_in_words((low, share, high), *middle)
    else:
        needed = typical_need(deployment.shape, epsilon, deployment.structure)
        where = " in a typical problem of these sizes"
        said = nothing_learnt(deployment.shape, epsilon, users, needed, where)
    return found | {
        "closed": round(share, 4),
        "closed_low": round(low, 4),
        "closed_high": round(high, 4),
        "significant": sure,
        "users_needed": round(needed) if needed is not None and math.isfinite(needed) else None,
        "said": said,
    }


@lru_cache(maxsize=4)
def typical_need(shape: Shape, epsilon: float, known: Structure | None) -> float:
    """Return how many users close half of the gap in the adviser's worlds of these sizes.

    That is :func:`~ldprl.simulation.sample_size.users_needed`, the median of three kinds of world.
    Of what is known admissible actions count; the rest is about one problem.
    """
    from ldprl.advice.scenarios import plausible_scenarios

    if shape.actions == 1:
        return math.inf
    built = min(shape.states, _MOST_STATES)
    needs = []
    for world in plausible_scenarios(replace(shape, states=built), 3, seed=0):
        mdp = world.mdp
        if known is not None and known.admissible is not None:
            mask = known.admissible[:built]
            mdp = replace(mdp, structure=Structure(mdp.shape, admissible=mask))
        needs.append(users_needed(mdp, epsilon))
    return sorted(needs)[1] * (shape.states / built) ** 2


def users_at_random(deployment: Deployment) -> float:
    """Return the most users from whom a plan is made that still acts almost at random."""
    need = typical_need(deployment.shape, float(deployment.epsilon), deployment.structure)
    return _FIRST * need


def values_in_models(
    shape: Shape,
    start: FloatArray,
    advised: FloatArray,
    belief: Belief,
    known: Structure | None = None,
) -> FloatArray:
    """Return the three values in models drawn from ``belief``, of shape (DRAWS, 3).

    Parameters
    ----------
    shape
        Sizes of the problem.
    start
        Expected share of the users who start in each state.
    advised
        The share of users who are given each action, of shape (H, S, A).
    belief
        What the sums say of the model.
    known
        What is publicly known of it.
    """
    from ldprl.kernels.values import solve

    rng = np.random.default_rng(0)
    known = Structure(shape) if known is None else known
    uniform = np.broadcast_to(known.at_random, advised.shape)
    found = np.empty((DRAWS, 3))
    for draw in range(DRAWS):
        rewards, moves = draw_model(belief, rng)
        best = start @ solve(shape, rewards, moves)[1][0]
        others = [start @ mixed_value(shape, law, rewards, moves) for law in (uniform, advised)]
        found[draw] = best, *others
    return found


def mixed_value(
    shape: Shape, chances: FloatArray, rewards: FloatArray, moves: FloatArray
) -> FloatArray:
    """Return the value of drawing actions by ``chances``, of shape (H, S, A), in each state."""
    value = np.zeros(shape.states)
    for step in reversed(range(shape.horizon)):
        model = shape.model_of(step)
        choices = rewards[model].copy()
        if step + 1 < shape.horizon:
            choices += moves[model] @ value
        value = (chances[step] * choices).sum(axis=1)
    return value


def values_from_effects(
    mechanism: ReturnBits,
    plan: Plan,
    effects: Effects,
    latest: tuple[float, float],
    earliest: tuple[float, float],
    known: Structure | None = None,
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
    known
        What is publicly known of the problem.
    """
    shape, rng = mechanism.shape, np.random.default_rng(0)
    known = Structure(shape) if known is None else known
    belief = believe(effects.scores[0], effects.information[0], known)
    spread, unit = np.linalg.cholesky(belief.covariance), _unit(mechanism, plan)
    advised = advised_actions(shape, plan)[0]
    found = np.empty((DRAWS, 3))
    for draw in range(DRAWS):
        chance = rng.standard_normal(belief.mean.shape)
        effect = belief.mean + np.einsum("sab,sb->sa", spread, chance)
        best = np.where(known.choices, effect, -np.inf).max(axis=1)
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
