import dataclasses
import math

import pytest

from ldprl.bounds import regret_lower_bound_ldp, regret_upper_bound
from ldprl.errors import InputError
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.shape import Shape

PRINTED_ROOT = math.sqrt(2)
SOUND_ROOT = 1 + math.sqrt(2)


def flat(value: float) -> ErrorLaw:
    return ErrorLaw(union=1, root=0, floor=value)


def laplace_laws(shape: Shape, epsilon: float) -> ErrorLaws:
    """Proposition "Laplace": max{√k, t}·√(8t)·6H/ε, with √S before √k in c_{k,3}."""
    scale = math.sqrt(8) * 6 * shape.horizon / epsilon
    cell = ErrorLaw(6 * shape.cells, scale, power=scale)
    moves = 6 * shape.cells * shape.states
    row = ErrorLaw(moves, scale * math.sqrt(shape.states), power=scale)
    move = ErrorLaw(moves, scale, power=scale / math.sqrt(shape.states))
    return ErrorLaws(cell, cell, row, move)


FLAT = ErrorLaws(flat(5), flat(7), flat(11), flat(13))
SHAPE = Shape(2, 3, 4)


def test_paper_terms_by_hand() -> None:
    """S=2, A=3, H=4, K=25: SA = 6, T = 100, c = (5, 7, 11, 13), α = 3, δ = 0.1."""
    bound = regret_upper_bound(SHAPE, 25, FLAT, 0.1, alpha=3, constants="paper")
    log = math.log(84000)  # 14·6·100/0.1
    visits = math.sqrt(1200) + 24
    assert bound.transition_sampling == pytest.approx(4 * math.sqrt(92 * log) * visits)
    assert bound.reward_sampling == pytest.approx(math.sqrt(6 * log) * visits)
    # 2SAH = 48, (α+1)c₃ + S·c₄ = 44 + 26; 2SA = 12, (α+1)c₂ + c₁ = 28 + 5.
    assert bound.transition_noise == pytest.approx(48 * 70 * (math.log(1200) + 4))
    assert bound.reward_noise == pytest.approx(12 * 33 * (math.log(1200) + 4))
    assert bound.martingale == pytest.approx(8 * math.sqrt(100 * math.log(20)))
    assert bound.first_visits == 0
    assert bound.total == pytest.approx(math.fsum(dataclasses.astuple(bound)))


def test_laws_are_asked_at_the_last_episode_and_its_share_of_the_failure() -> None:
    asked = ErrorLaw(union=2, root=1)
    laws = ErrorLaws(asked, flat(0), flat(0), flat(0))
    bound = regret_upper_bound(Shape(1, 1, 1), 9, laws, 0.3, constants="paper")
    value = math.sqrt(9 * math.log(2 * 2 * math.pi**2 * 81 / 0.9))
    assert bound.reward_noise == pytest.approx(2 * value * (math.log(18) + 1))


@pytest.mark.parametrize("episodes", [1, 1000, 10**8])
def test_sound_differs_from_paper_by_the_documented_factors(episodes: int) -> None:
    laws = laplace_laws(SHAPE, 1.0)
    paper = regret_upper_bound(SHAPE, episodes, laws, 0.1, constants="paper")
    sound = regret_upper_bound(SHAPE, episodes, laws, 0.1)
    steps = 4 * episodes
    visits = (SOUND_ROOT * math.sqrt(6 * steps) + 24) / (PRINTED_ROOT * math.sqrt(6 * steps) + 24)
    assert sound.transition_sampling / paper.transition_sampling == pytest.approx(2 * visits)
    assert sound.reward_sampling / paper.reward_sampling == pytest.approx(2 * visits)
    assert sound.transition_noise == pytest.approx(2 * paper.transition_noise)
    assert sound.reward_noise == pytest.approx(2 * paper.reward_noise)
    assert sound.martingale == paper.martingale
    assert sound.first_visits == 6 * 4 + 6
    assert 2 * paper.total - paper.martingale < sound.total < 4 * paper.total


@pytest.mark.parametrize("horizon", [1, 2, 3, 5, 8, 13])
def test_visit_sums_of_the_proof_hold_for_every_sequence_of_visits(horizon: int) -> None:
    """Maximise Σν/√N and Σν/N over all ways to reach n visits, by dynamic programming.

    The first visit leaves N anywhere from 1 to H; after it an episode adds ν ≤ H.
    """
    most = 600
    roots, logs = [0.0] * (most + 1), [0.0] * (most + 1)
    for n in range(2, most + 1):
        before = range(max(1, n - horizon), n)
        start = 0.0 if n <= horizon else -math.inf
        roots[n] = max(start, *(roots[m] + (n - m) / math.sqrt(m) for m in before))
        logs[n] = max(start, *(logs[m] + (n - m) / m for m in before))
    for n in range(1, most + 1):
        assert roots[n] <= SOUND_ROOT * math.sqrt(n) + horizon
        assert logs[n] <= math.log2(n) + horizon


def test_the_printed_root_is_too_small() -> None:
    """One visit an episode, H = 1: Σ 1/√N ≈ 2√N exceeds √(2N) + 1."""
    visits = 10_000
    total = math.fsum(1 / math.sqrt(n) for n in range(1, visits))
    assert total > PRINTED_ROOT * math.sqrt(visits) + 1
    assert total <= SOUND_ROOT * math.sqrt(visits) + 1


def test_the_logarithm_covers_both_bonuses() -> None:
    """2 ln(4π²SAHK³/(3δ)) ≤ 6 ln(14SAT/δ), so that √(6ℓ) and √(46Sℓ) bound the proof's L."""
    for cells in (1, 6, 1000):
        for horizon in (1, 5, 100):
            for episodes in (1, 10, 10**9):
                for failure in (0.999, 0.1, 1e-9):
                    exact = math.log(4 * math.pi**2 * cells * horizon * episodes**3 / 3 / failure)
                    log = math.log(14 * cells * horizon * episodes / failure)
                    assert exact <= 3 * log
                    assert 14 * exact <= 46 * log


@pytest.mark.parametrize("constants", ["sound", "paper"])
def test_monotone_in_episodes_privacy_and_confidence(constants: str) -> None:
    def total(episodes: int, epsilon: float, failure: float) -> float:
        laws = laplace_laws(SHAPE, epsilon)
        return regret_upper_bound(SHAPE, episodes, laws, failure, constants=constants).total  # type: ignore[arg-type]

    by_episodes = [total(k, 1.0, 0.1) for k in (1, 2, 10, 10**4, 10**8)]
    assert by_episodes == sorted(by_episodes)
    by_privacy = [total(1000, epsilon, 0.1) for epsilon in (20, 2, 0.2, 0.02)]
    assert by_privacy == sorted(by_privacy)
    by_confidence = [total(1000, 1.0, failure) for failure in (0.9, 0.1, 1e-3, 1e-9)]
    assert by_confidence == sorted(by_confidence)


def test_privacy_is_what_the_noise_terms_cost() -> None:
    bound = regret_upper_bound(SHAPE, 100, ErrorLaws(*[flat(0.0)] * 4), 0.1)
    assert bound.transition_noise == bound.reward_noise == 0
    assert bound.transition_sampling > 0


def test_step_dependent_by_hand() -> None:
    """HSA = 24 cells, each visited at most once an episode; transitions have 18 of them."""
    shape = Shape(2, 3, 4, step_dependent=True)
    bound = regret_upper_bound(shape, 25, FLAT, 0.1, alpha=3)
    log = math.log(84000)
    visits = SOUND_ROOT * math.sqrt(2400) + 24
    assert bound.transition_sampling == pytest.approx(8 * math.sqrt(92 * log) * visits)
    assert bound.transition_noise == pytest.approx(2 * 192 * 70 * (math.log(4800) + 1))
    assert bound.reward_noise == pytest.approx(2 * 48 * 33 * (math.log(4800) + 1))
    assert bound.first_visits == 18 * 4 + 6


@pytest.mark.parametrize("horizon", [1, 2, 10, 50])
@pytest.mark.parametrize("episodes", [1, 1000, 10**9])
def test_step_dependence_costs_at_most_a_factor_h(horizon: int, episodes: int) -> None:
    one = regret_upper_bound(Shape(3, 2, horizon), episodes, FLAT, 0.1)
    many = regret_upper_bound(Shape(3, 2, horizon, step_dependent=True), episodes, FLAT, 0.1)
    assert many.total <= horizon * one.total * (1 + 1e-12)


def test_paper_multiplies_by_its_footnote_for_step_dependent_models() -> None:
    one = regret_upper_bound(SHAPE, 100, FLAT, 0.1, constants="paper")
    many = regret_upper_bound(
        Shape(2, 3, 4, step_dependent=True), 100, FLAT, 0.1, constants="paper"
    )
    assert many.total == pytest.approx(8 * one.total)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 5.0])
@pytest.mark.parametrize(("states", "actions", "horizon"), [(3, 2, 2), (5, 2, 6), (15, 3, 8)])
def test_lower_bound_is_below_upper_bound(
    states: int, actions: int, horizon: int, epsilon: float
) -> None:
    shape = Shape(states, actions, horizon)
    for episodes in (10**3, 10**5, 10**8):
        lower = regret_lower_bound_ldp(states, actions, horizon, episodes, epsilon)
        laws = laplace_laws(shape, epsilon)
        upper = regret_upper_bound(shape, episodes, laws, 0.1)
        assert 0 < lower < upper.total
        assert lower < horizon * episodes


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("episodes", 0),
        ("episodes", 2.5),
        ("failure", 0.0),
        ("failure", 1.0),
        ("failure", math.nan),
        ("alpha", 1.0),
        ("alpha", math.inf),
        ("constants", "papr"),
    ],
)
def test_bad_input_is_refused_by_name(field: str, value: object) -> None:
    arguments: dict[str, object] = {"episodes": 10, "failure": 0.1, field: value}
    with pytest.raises(InputError) as error:
        regret_upper_bound(SHAPE, laws=FLAT, **arguments)  # type: ignore[arg-type]
    assert error.value.field == field
