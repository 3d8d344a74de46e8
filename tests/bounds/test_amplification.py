import math

import numpy as np
import pytest
from scipy.stats import binom

from ldprl.bounds import (
    changed_bits,
    shuffle_epsilon,
    shuffle_regret_rate,
    shuffle_user_guarantee,
)
from ldprl.errors import InputError


def exact_delta(bits: int, ones: int, coin: float, epsilon: float, changed: int) -> float:
    """δ(ε) of a sum of randomized bits in which ``changed`` of them turn from 0 to 1."""
    rest = np.convolve(
        binom.pmf(np.arange(ones + 1), ones, 1 - coin / 2),
        binom.pmf(np.arange(bits - changed - ones + 1), bits - changed - ones, coin / 2),
    )
    zeros = np.convolve(rest, binom.pmf(np.arange(changed + 1), changed, coin / 2))
    turned = np.convolve(rest, binom.pmf(np.arange(changed + 1), changed, 1 - coin / 2))
    forth = np.maximum(zeros - math.exp(epsilon) * turned, 0).sum()
    back = np.maximum(turned - math.exp(epsilon) * zeros, 0).sum()
    return float(max(forth, back))


def test_epsilon_by_hand() -> None:
    """δ₀ = 2/e makes ln(2/δ₀) = 1; n = 200·4 = 800, p = 1/4: the inner root is √(1/1600)."""
    value = shuffle_epsilon(201, 4, 0.25, 2 / math.e)
    kept = 0.25 - 1 / 40
    log = math.log(2 * math.e)
    assert value == pytest.approx(32 * log / math.sqrt(800 * kept) * (1 - kept))


def test_range_edges() -> None:
    """δ₀ = 4/e² makes the lower edge 28/n: n = 56 for k = 15, H = 4."""
    delta = 4 / math.e**2
    assert shuffle_epsilon(15, 4, 0.5 + 1e-12, delta) > 0
    assert shuffle_epsilon(15, 4, 1.0, delta) > 0
    for coin in (0.499, 1.001, 0.0, math.nan):
        with pytest.raises(InputError) as error:
            shuffle_epsilon(15, 4, coin, delta)
        assert error.value.field == "coin"
    with pytest.raises(InputError, match=r"\[0.5, 1\]"):
        shuffle_epsilon(15, 4, 0.499, delta)


def test_too_few_bits_leave_no_valid_coin() -> None:
    with pytest.raises(InputError, match="no p is valid") as error:
        shuffle_epsilon(10, 3, 1.0, 4 / math.e**2)  # 27 bits < 28
    assert error.value.field == "shuffled bits"
    assert shuffle_epsilon(11, 3, 1.0, 4 / math.e**2) > 0


@pytest.mark.parametrize(
    ("episode", "horizon", "delta"), [(1, 4, 0.1), (100, 0, 0.1), (100, 4, 0.0), (100, 4, 1.0)]
)
def test_bad_input_is_refused(episode: int, horizon: int, delta: float) -> None:
    with pytest.raises(InputError):
        shuffle_epsilon(episode, horizon, 0.9, delta)


def test_a_larger_crowd_hides_better() -> None:
    values = [shuffle_epsilon(k, 2, 0.5, 1e-3) for k in (200, 1000, 10**5, 10**8)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-3])
@pytest.mark.parametrize("bits", [120, 1000])
def test_epsilon_covers_one_bit_exactly_computed(bits: int, delta: float) -> None:
    edge = 14 * math.log(4 / delta) / bits * (1 + 1e-12)
    for coin in (edge, (1 + edge) / 2, 1.0):
        epsilon = shuffle_epsilon(bits + 1, 1, coin, delta)
        for ones in (0, bits // 2, bits - 1):
            assert exact_delta(bits, ones, coin, epsilon, changed=1) <= delta


def test_changed_bits_by_hand() -> None:
    assert changed_bits(1) == 4
    assert changed_bits(3, reward_bits=5) == 40


def test_user_guarantee_by_hand() -> None:
    """H = 1, m = 1: four changes in counters of k − 1 bits, N^p has none."""
    each = shuffle_epsilon(5001, 1, 0.9, 1e-6)
    user = shuffle_user_guarantee(5001, 1, 0.9, 1e-6)
    assert user.epsilon == pytest.approx(4 * each)
    assert user.delta == pytest.approx(1e-6 * math.fsum(math.exp(i * each) for i in range(4)))


def test_user_guarantee_counts_each_block_by_its_own_bits() -> None:
    """H = 3, m = 2: 6 changes of 3n bits, 4 of 2n and 12 of 6n, where n = 10⁶ users."""
    n, coin, delta = 10**6, 0.3, 1e-9
    parts = [shuffle_epsilon(h * n + 1, 1, coin, delta) for h in (3, 2, 6)]
    each = [parts[0]] * 6 + [parts[1]] * 4 + [parts[2]] * 12
    assert len(each) == changed_bits(3, reward_bits=2)
    user = shuffle_user_guarantee(n + 1, 3, coin, delta, reward_bits=2)
    assert user.epsilon == pytest.approx(math.fsum(each))
    spent = np.concatenate([[0], np.cumsum(each)[:-1]])
    assert user.delta == pytest.approx(delta * math.fsum(np.exp(spent)))


def test_one_bit_is_not_one_user() -> None:
    """H = 2: a user who stays in one cell turns 2 bits of one sum: easier to distinguish."""
    bits, coin = 200, 0.3
    one = exact_delta(bits, 0, coin, 0.5, changed=1)
    assert exact_delta(bits, 0, coin, 0.5, changed=2) > 10 * one
    user = shuffle_user_guarantee(bits // 2 + 1, 2, 0.9, 0.3)
    assert user.epsilon > 6 * shuffle_epsilon(bits // 2 + 1, 2, 0.9, 0.3)


def test_user_guarantee_where_it_says_nothing_is_finite() -> None:
    user = shuffle_user_guarantee(200, 50, 0.05, 0.1, reward_bits=20)
    assert math.isfinite(user.epsilon)
    assert user.delta == 1


def test_regret_rate() -> None:
    """S=2, A=3, H=4, K=9: H²S²A√(KH) = 16·4·3·6; ε₀/H = ln 2 and ε₀/(14 + 8) = ln 2."""
    paper = shuffle_regret_rate(2, 3, 4, 9, 4 * math.log(2), constants="paper")
    assert paper == pytest.approx(1152)
    assert shuffle_regret_rate(2, 3, 4, 9, 22 * math.log(2)) == pytest.approx(1152)
    assert shuffle_regret_rate(2, 3, 4, 9, 38 * math.log(2), reward_bits=3) == pytest.approx(1152)
    assert shuffle_regret_rate(2, 3, 4, 9, 1.0) > shuffle_regret_rate(2, 3, 4, 9, 2.0)
    with pytest.raises(InputError, match="epsilon"):
        shuffle_regret_rate(2, 3, 4, 9, 0.0)
