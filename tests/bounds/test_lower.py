import math

import numpy as np
import pytest

from ldprl.bounds import (
    psrl_rate,
    pucb_rate,
    regret_lower_bound_jdp,
    regret_lower_bound_ldp,
)
from ldprl.errors import InputError
from ldprl.worlds import hard_tree


def proved(states: int, actions: int, horizon: int, episodes: int, epsilon: float) -> float:
    """The last display before Δ is chosen, (H−d)ΔK(1 − 1/LA − root), at the paper's Δ."""
    tree = hard_tree(states, actions, horizon, episodes, epsilon)
    pairs = tree.leaves * actions
    factor = min(math.sqrt(2) * math.expm1(epsilon), 1 / math.sqrt(2))
    root = factor * math.sqrt(episodes / pairs * -math.log1p(-4 * tree.gap**2))
    return (horizon - tree.depth) * tree.gap * episodes * (1 - 1 / pairs - root)


def fewest(pairs: int, epsilon: float) -> int:
    return math.ceil(pairs / min(8 * math.expm1(epsilon), 4) ** 2)


def test_smallest_tree_by_hand() -> None:
    """S=3: one leaf, the root; d = 1, LA = 2. K = 50, e^ε−1 = 1/4: (3−1)·√100/(64/4)."""
    epsilon = math.log(1.25)
    assert regret_lower_bound_ldp(3, 2, 3, 50, epsilon, constants="paper") == pytest.approx(1.25)
    assert regret_lower_bound_ldp(3, 2, 3, 50, epsilon) == pytest.approx(1.25 / math.sqrt(2))


@pytest.mark.parametrize("constants", ["sound", "paper"])
def test_the_papers_figure_by_hand(constants: str) -> None:
    """S=15, A=3: 1 + 3 + 9 nodes, L = 9, d = 3. K = 300: (7−3)·√8100/32 for e^ε−1 ≥ 1/2."""
    for epsilon in (math.log(1.5), 1.0, 1000.0):
        value = regret_lower_bound_ldp(15, 3, 7, 300, epsilon, constants=constants)  # type: ignore[arg-type]
        assert value == pytest.approx(4 * 90 / 32)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 0.3, math.log(1.5), 1.0, 20.0])
@pytest.mark.parametrize(("states", "actions"), [(3, 2), (3, 3), (4, 2), (5, 2), (7, 2), (15, 3)])
def test_the_proof_gives_the_sound_bound_in_the_whole_range(
    states: int, actions: int, epsilon: float
) -> None:
    horizon = math.ceil(2 * math.log(states - 2, actions) + 2)
    leaves = hard_tree(states, actions, horizon, 10**9, epsilon).leaves
    least = fewest(leaves * actions, epsilon)
    for episodes in (least, least + 1, 2 * least, 10 * least, 10**6 * least):
        assert hard_tree(states, actions, horizon, episodes, epsilon).unmet == ()
        sound = regret_lower_bound_ldp(states, actions, horizon, episodes, epsilon)
        assert proved(states, actions, horizon, episodes, epsilon) >= sound


def test_the_quarter_inequality_holds_wherever_the_condition_on_episodes_does() -> None:
    """√2·q·√(K/LA·ln(1/(1−4Δ²))) ≤ 1/4 and Δ < 1/2 over a grid of q and of K/fewest ≥ 1."""
    q = np.geomspace(1e-6, 0.5, 200)[:, None]
    over = np.concatenate([[1.0], 1 + np.geomspace(1e-9, 1e9, 400)])[None, :]
    ratio = over / (8 * q) ** 2  # K / LA
    gap = 1 / np.sqrt(ratio) / (16 * math.sqrt(2) * q)
    root = math.sqrt(2) * q * np.sqrt(ratio * -np.log1p(-4 * gap**2))
    assert gap.max() <= 1 / math.sqrt(8) + 1e-12
    assert root.max() == pytest.approx(math.sqrt(math.log(2) / 32))
    assert root.max() <= 0.25


def test_the_printed_constant_is_not_proved_for_two_pairs() -> None:
    """LA = 2, e^ε−1 = 1/16, K = fewest = 8: the printed steps give less than the printed bound."""
    epsilon = math.log1p(1 / 16)
    paper = regret_lower_bound_ldp(3, 2, 2, 8, epsilon, constants="paper")
    assert proved(3, 2, 2, 8, epsilon) < paper
    assert proved(3, 2, 2, 8, epsilon) >= paper / math.sqrt(2)


def test_sound_differs_from_paper_only_for_two_pairs() -> None:
    for states, actions, ratio in [(3, 2, math.sqrt(2)), (3, 3, 1.0), (5, 2, 1.0)]:
        paper = regret_lower_bound_ldp(states, actions, 8, 1000, 0.5, constants="paper")
        assert paper / regret_lower_bound_ldp(states, actions, 8, 1000, 0.5) == pytest.approx(ratio)


def test_monotone_in_episodes_horizon_and_privacy() -> None:
    by_episodes = [regret_lower_bound_ldp(9, 2, 8, k, 0.5) for k in (10, 100, 10**6)]
    assert by_episodes == sorted(by_episodes)
    by_horizon = [regret_lower_bound_ldp(9, 2, h, 1000, 0.5) for h in (8, 9, 50)]
    assert by_horizon == sorted(by_horizon)
    by_privacy = [regret_lower_bound_ldp(9, 2, 8, 10**6, e) for e in (5, 0.4, 0.1, 0.01)]
    assert by_privacy == sorted(by_privacy)
    assert by_privacy[0] < by_privacy[-1]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("states", 2),
        ("actions", 1),
        ("horizon", 5),  # 2 log_2(4) + 2 = 6
        ("horizon", 0),
        ("episodes", 0),
        ("epsilon", 0.0),
        ("epsilon", math.nan),
        ("constants", "sond"),
    ],
)
def test_conditions_are_enforced(field: str, value: object) -> None:
    arguments: dict[str, object] = {
        "states": 6,
        "actions": 2,
        "horizon": 6,
        "episodes": 1000,
        "epsilon": 1.0,
    }
    assert regret_lower_bound_ldp(**arguments) > 0  # type: ignore[arg-type]
    with pytest.raises(InputError) as error:
        regret_lower_bound_ldp(**{**arguments, field: value})  # type: ignore[arg-type]
    assert error.value.field == field


def test_too_few_episodes_are_refused_at_the_edge() -> None:
    """LA = 2, e^ε−1 = 1/16: fewest is 2/(8/16)² = 8."""
    epsilon = math.log1p(1 / 16) * (1 + 1e-12)
    assert regret_lower_bound_ldp(3, 2, 2, 8, epsilon) > 0
    with pytest.raises(InputError, match=r"LA / min\{8\(e\^ε−1\), 4\}² = 8") as error:
        regret_lower_bound_ldp(3, 2, 2, 7, epsilon)
    assert error.value.field == "episodes"


def test_rates_by_hand() -> None:
    """S=2, A=3, H=4, K=6, ε=1/2: SA = 6, √(SAK) = 6."""
    assert regret_lower_bound_jdp(2, 3, 4, 6, 0.5) == pytest.approx(24 + 48 * math.log(24))
    assert pucb_rate(2, 3, 4, 6, 0.5) == pytest.approx(16 * 6 + 2 * 6 * 64 * 6)
    assert psrl_rate(2, 3, 4, 6) == pytest.approx(8 * math.sqrt(72))


def test_joint_privacy_is_cheaper_than_local_privacy_for_small_epsilon() -> None:
    """Local privacy costs a factor 1/ε, joint privacy a summand: 10⁸ episodes, ε halved."""
    sizes = (7, 2, 8, 10**8)
    local = regret_lower_bound_ldp(*sizes, 0.005) / regret_lower_bound_ldp(*sizes, 0.01)
    joint = regret_lower_bound_jdp(*sizes, 0.005) / regret_lower_bound_jdp(*sizes, 0.01)
    assert local == pytest.approx(math.expm1(0.01) / math.expm1(0.005))
    assert joint < 1.6


def test_rates_refuse_bad_sizes() -> None:
    with pytest.raises(InputError, match="states"):
        psrl_rate(0, 2, 2, 2)
    with pytest.raises(InputError, match="epsilon"):
        pucb_rate(2, 2, 2, 2, -1.0)
    with pytest.raises(InputError, match="epsilon"):
        regret_lower_bound_jdp(2, 2, 2, 2, 0.0)
