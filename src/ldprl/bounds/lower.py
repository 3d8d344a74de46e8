"""Lower bounds on the regret of private learners, and known rates for comparison."""

from __future__ import annotations

import math

from ldprl.errors import InputError, one_of, positive, whole_number
from ldprl.mechanisms.mechanism import Constants
from ldprl.worlds.hard_tree import long_enough, tree_levels


def regret_lower_bound_ldp(
    states: int,
    actions: int,
    horizon: int,
    episodes: int,
    epsilon: float,
    *,
    constants: Constants = "sound",
) -> float:
    """Return a regret that every ε-LDP learner has on some MDP (theorem "Lower-Bound").

    The end of its proof has (H−d)√(KLA) / (64·min{e^ε−1, 1/2}), where L leaves and depth d are
    those of :func:`ldprl.worlds.hard_tree`. ``sound`` has 64√2 in place of 64 where LA = 2.

    Parameters
    ----------
    states, actions, horizon
        S ≥ 3, A ≥ 2 and H ≥ 2 log_A(S−2) + 2.
    episodes
        K ≥ LA / min{8(e^ε−1), 4}².
    epsilon
        ε of the learner's mechanism; δ = 0.
    constants
        ``"sound"`` or ``"paper"``.

    Notes
    -----
    Write q = min{e^ε−1, 1/2}. The proof ends with

        R ≥ (H−d)ΔK·(1 − 1/LA − √2·q·√(K/LA·ln(1/(1−4Δ²)))),   Δ = √(LA/K)/(16√2·q).

    With x = 4Δ² = LA/(128Kq²) the last root is √(ln(1/(1−x))/(64x)), increasing in x. The
    condition on K says x ≤ 1/2, so Δ ≤ 1/√8 and the root is at most √(ln 2/32) < 0.148 ≤ 1/4.
    ΔK = √(KLA)/(16√2·q), so that R ≥ (H−d)√(KLA)/(64q)·(64/(16√2))·(3/4 − 1/LA), where
    (64/(16√2))·(3/4 − 1/LA) is at least 1.17 for LA ≥ 3 and 1/√2 for LA = 2.

    (With √(KL/2) where the proof has √KL, as the lemmas it cites allow, the root is below 0.105
    and 64 would do for LA = 2 too; ``sound`` keeps to what the printed steps prove.)
    """
    states = whole_number("states", states, 3)
    actions = whole_number("actions", actions, 2)
    horizon = whole_number("horizon", horizon, 1)
    episodes = whole_number("episodes", episodes, 1)
    epsilon = positive("epsilon", epsilon)
    one_of("constants", constants, ("sound", "paper"))
    if not long_enough(states, actions, horizon):
        least = 2 * math.log(states - 2) / math.log(actions) + 2
        raise InputError("horizon", horizon, f"at least 2 log_A(S−2) + 2 = {least:.4g}")
    levels = tree_levels(states - 2, actions)
    pairs = levels[-1] * actions
    # Beyond ε = 1 the minimum is 1/2; capping keeps the exponential finite.
    privacy = min(math.expm1(min(epsilon, 1.0)), 0.5)
    fewest = pairs / (8 * privacy) ** 2
    if episodes < fewest:
        raise InputError("episodes", episodes, f"at least LA / min{{8(e^ε−1), 4}}² = {fewest:.6g}")
    constant = 64 * math.sqrt(2) if constants == "sound" and pairs == 2 else 64.0
    return (horizon - len(levels)) * math.sqrt(episodes * pairs) / (constant * privacy)


def regret_lower_bound_jdp(
    states: int, actions: int, horizon: int, episodes: int, epsilon: float
) -> float:
    """Return H√(SAK) + SAH·ln(KH)/ε: the order of the lower bound for joint privacy.

    Quoted in the paper's introduction from Vietri et al. (2020) as Ω(·); the constant is not
    stated there, so that this is a rate with constant 1 and not a bound on any regret.
    """
    states, actions, horizon, episodes = sizes_of(states, actions, horizon, episodes)
    epsilon = positive("epsilon", epsilon)
    cells = states * actions
    private = cells * horizon * math.log(episodes * horizon) / epsilon
    return horizon * math.sqrt(cells * episodes) + private


def pucb_rate(states: int, actions: int, horizon: int, episodes: int, epsilon: float) -> float:
    """Return √(H⁴SAK) + SAH³(S+H)/ε: PUCB's regret under ε-JDP (Vietri et al., 2020).

    Quoted in "Extended Related Work" as Õ(·): constant 1, logarithms dropped.
    """
    states, actions, horizon, episodes = sizes_of(states, actions, horizon, episodes)
    epsilon = positive("epsilon", epsilon)
    cells = states * actions
    private = cells * horizon**3 * (states + horizon) / epsilon
    return horizon**2 * math.sqrt(cells * episodes) + private


def psrl_rate(states: int, actions: int, horizon: int, episodes: int) -> float:
    """Return HS√(AT), T = KH: PSRL's Bayesian regret without privacy (Osband et al., 2013).

    Quoted in the appendix on posterior sampling as Õ(·): constant 1, logarithms dropped.
    """
    states, actions, horizon, episodes = sizes_of(states, actions, horizon, episodes)
    return horizon * states * math.sqrt(actions * episodes * horizon)


def sizes_of(states: int, actions: int, horizon: int, episodes: int) -> tuple[int, int, int, int]:
    """Return S, A, H and K as whole numbers of at least 1, or refuse them."""
    return (
        whole_number("states", states, 1),
        whole_number("actions", actions, 1),
        whole_number("horizon", horizon, 1),
        whole_number("episodes", episodes, 1),
    )
