"""Intervals for the effects of actions on bits of the return: they hold at all times.

The score of an action in a cell is Σ_k (w_k/σ_k)·(Y_k − q_k)·(1{X_k = a} − b_k(a)): Y the decoded
bit, X the table's action in the cell. Weight w, guess q, its deviation σ and law b are fixed before
user k answers, so that the score minus its *drift*

    D = Σ_k (w_k/σ_k)·b_k(a)·(P(bit_k = 1 | X_k = a) − P(bit_k = 1))

is a martingale, whatever the MDP is. Where D > 0, users whose table plays the action had better
returns than the others, on this average over all users so far.
"""

from __future__ import annotations

import math

import numpy as np

from ldprl.errors import probability
from ldprl.learning.confidence import boundary
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.shape import FloatArray
from ldprl.statistics import Effects

_COMPONENTS = 36
_RATIO = 1.6
_FASTEST = 600.0
"""Rates of the mixture: λ_j = 600/c·1.6^−j, j = 0, …, 35, for terms of at most c, fixed in advance.
They span seven orders of magnitude, because weights grow with the number of users: early ones are
about a hundredth of the last."""


def effect_intervals(
    effects: Effects, mechanism: ReturnBits, largest_weight: float, failure_probability: float = 0.1
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the drift of every score, of shape (parts, S, A) each.

    With probability 1 − δ all of them hold after every plan. A decoded bit has the variance
    σ₀² + μ(1 − μ), where μ = P(bit = 1) and σ₀² is that of a bit that is certain. So
    E(Y − q)² ≤ σ₀² + max(q, 1 − q)² ≤ (1 + 1/σ₀²)·σ², and the score has at most (1 + 1/σ₀²) times
    the variance Λ_aa that the sums know. Terms are at most w·(1 + (1 − p)/(2p − 1) + ¼)/σ₀.

    Parameters
    ----------
    effects
        The sums.
    mechanism
        The randomizer of the bits.
    largest_weight
        Of the answers so far.
    failure_probability
        δ, for all cells, actions, both sides and all times together.
    """
    failure = probability("failure_probability", failure_probability, zero=False)
    certain = float(mechanism.spread(0.0))
    # A decoded bit lies in [−f, 1 + f], and the mean of a term in [−¼, ¼].
    beyond = float(mechanism.spread(0.5)) - 0.5
    reach = (1 + beyond + 0.25) / certain
    rates = _FASTEST / reach * _RATIO ** -np.arange(_COMPONENTS, dtype=np.float64)
    threshold = math.log(2 * effects.scores.size / failure)
    variance = (1 + 1 / certain**2) * np.einsum("...aa->...a", effects.information)
    error = np.array(
        [
            boundary(one, reach * largest_weight, 0.0, threshold, rates)
            for one in variance.ravel().tolist()
        ]
    ).reshape(variance.shape)
    return effects.scores - error, effects.scores + error
