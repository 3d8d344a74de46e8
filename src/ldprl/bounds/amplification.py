"""What shuffling adds to local privacy (appendix "Privacy Amplification by Shuffling in RL")."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ldprl.bounds.lower import sizes_of
from ldprl.errors import InputError, one_of, positive, probability, whole_number
from ldprl.mechanisms.mechanism import Constants


@dataclass(frozen=True)
class CentralGuarantee:
    """(ε, δ)-DP of shuffled sums: protection against those who see the sums but not the reports."""

    epsilon: float
    delta: float


def changed_bits(horizon: int, reward_bits: int = 1) -> int:
    """Return 4H − 2 + 2mH, the number of bits of M_sh in which two users can differ.

    2H of N^r's one-hot bits, 2(H−1) of N^p's and, m to a reward, 2mH of the rewards'. So M_sh with
    ε a bit is (4H − 2 + 2mH)ε-LDP, where the paper has "roughly Hε".
    """
    horizon = whole_number("horizon", horizon, 1)
    reward_bits = whole_number("reward_bits", reward_bits, 1)
    return 4 * horizon - 2 + 2 * reward_bits * horizon


def shuffle_epsilon(episode: int, horizon: int, coin: float, delta: float) -> float:
    """Return ε_{k,c}: one *bit* is (ε_{k,c}, δ₀)-DP in a counter of n = (k−1)H shuffled bits.

    With λ = p − √(2p·ln(2/δ₀)/n),

        ε_{k,c} = 32 ln(4/δ₀) / √(nλ) · (1 − λ)    for p ∈ [14 ln(4/δ₀)/n, 1].

    As printed, and safe for one bit: exact δ at this ε is far below δ₀. It is neither a figure for
    a user, who changes many bits (:func:`shuffle_user_guarantee`), nor for a learner who is sent
    the sums after every episode: the difference of two such sums is one user's report, which has
    local privacy only.

    Parameters
    ----------
    episode
        The paper's k: k − 1 users have reported.
    horizon
        The paper's H.
    coin
        The paper's p = 2/(e^ε+1): the probability that a bit is replaced by a fair coin toss.
    delta
        The paper's δ₀.
    """
    episode = whole_number("episode", episode, 2)
    horizon = whole_number("horizon", horizon, 1)
    return _bit_epsilon((episode - 1) * horizon, coin, probability("delta", delta, zero=False))


def shuffle_user_guarantee(
    episode: int, horizon: int, coin: float, delta: float, reward_bits: int = 1
) -> CentralGuarantee:
    """Return the guarantee of a whole *user* if only the sums before episode k are released.

    Turn one user's bits into another's one at a time: each of the 4H − 2 + 2mH changes is
    (ε_i, δ₀)-DP with the ε_{k,c} of its counter, where N^r sums n = (k−1)H bits, N^p (k−1)(H−1)
    (not (k−1)H as printed) and the rewards m(k−1)H. Together they are (ε, δ)-DP with
    ε = Σ_i ε_i and δ = δ₀·Σ_i e^{ε_1+…+ε_{i−1}}. Basic composition would have Σ_i δ₀ for δ, but
    it needs separate counters, and a user who visits a cell twice changes two bits of one sum.

    Locally the user has changed_bits·ln(2/p − 1) and δ = 0 in any case; where that is the smaller
    figure shuffling has given nothing.

    Parameters
    ----------
    episode, horizon, coin, delta
        As in :func:`shuffle_epsilon`; ``delta`` is δ₀, that of one bit.
    reward_bits
        The paper's m.
    """
    episode = whole_number("episode", episode, 2)
    horizon = whole_number("horizon", horizon, 1)
    reward_bits = whole_number("reward_bits", reward_bits, 1)
    delta = probability("delta", delta, zero=False)
    users = episode - 1
    blocks = (
        (2 * horizon, users * horizon),
        (2 * (horizon - 1), users * (horizon - 1)),
        (2 * reward_bits * horizon, reward_bits * users * horizon),
    )
    spent = total_delta = 0.0
    for changes, bits in blocks:
        if changes == 0:
            continue
        each = _bit_epsilon(bits, coin, delta)
        # δ₀·e^{spent}·(1 + e^{each} + … ), cut off at 1 before the exponential overflows.
        log_sum = spent + changes * each
        growth = math.expm1(changes * each) / math.expm1(each) if log_sum < 700 else math.inf
        total_delta = min(1.0, total_delta + delta * math.exp(min(spent, 700.0)) * growth)
        spent += changes * each
    return CentralGuarantee(spent, total_delta)


def shuffle_regret_rate(
    states: int,
    actions: int,
    horizon: int,
    episodes: int,
    epsilon: float,
    *,
    reward_bits: int = 1,
    constants: Constants = "sound",
) -> float:
    """Return the order of LDP-OBI's regret with M_sh at local privacy ε₀ for the trajectory.

    ``paper``: H²S²A√(KH)/(e^{ε₀/H} − 1), as printed. ``sound``: H in the exponent becomes
    4H − 2 + 2mH (:func:`changed_bits`). Constant 1, logarithms dropped.
    """
    states, actions, horizon, episodes = sizes_of(states, actions, horizon, episodes)
    epsilon = positive("epsilon", epsilon)
    bits = changed_bits(horizon, reward_bits)
    split = bits if one_of("constants", constants, ("sound", "paper")) == "sound" else horizon
    noise = math.sqrt(episodes * horizon) / math.expm1(min(epsilon / split, 700.0))
    return horizon**2 * states**2 * actions * noise


def _bit_epsilon(bits: int, coin: float, delta: float) -> float:
    coin = probability("coin", coin, zero=False, one=True)
    least = 14 * math.log(4 / delta) / bits
    if least > 1:
        expected = f"at least 14 ln(4/δ₀) = {least * bits:.4g} in a counter, or no p is valid"
        raise InputError("shuffled bits", bits, expected)
    if coin < least:
        raise InputError("coin", coin, f"a number in [14 ln(4/δ₀)/{bits}, 1] = [{least:.4g}, 1]")
    kept = coin - math.sqrt(2 * coin * math.log(2 / delta) / bits)
    return 32 * math.log(4 / delta) / math.sqrt(bits * kept) * (1 - kept)
