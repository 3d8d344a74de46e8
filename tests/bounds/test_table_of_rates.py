import math

import pytest
from scipy.stats import norm

from ldprl.bounds import table_one
from ldprl.errors import InputError

# S=2, A=4, H=4, K=100, ε=1/2 and ln(1/δ₀) = 9: S²A√K/ε = 4·4·10·2 = 320.
SIZES = {"episodes": 100, "epsilon": 0.5, "delta": math.exp(-9)}


def orders(constants: str) -> dict[str, float]:
    rows = table_one(2, 4, 4, **SIZES, constants=constants)  # type: ignore[arg-type]
    return {row.mechanism: row.order for row in rows}


def test_paper_rows_by_hand() -> None:
    assert orders("paper") == pytest.approx(
        {
            "Laplace": 64 * 320,
            "Gaussian": 64 * 320 * 3,
            "Randomized response": 128 * 320,
            "Bounded noise": 16 * 320 * 3 * 2 * 2,
            "Naive composition": 256 * 320 * 16,
        }
    )


def test_sound_corrects_bounded_noise_by_a_factor_h_and_nothing_else() -> None:
    paper, sound = orders("paper"), orders("sound")
    for mechanism, order in paper.items():
        factor = 4 if mechanism == "Bounded noise" else 1
        assert sound[mechanism] == pytest.approx(factor * order)


def test_texts_as_printed_and_corrected() -> None:
    paper = {row.mechanism: row for row in table_one(2, 4, 4, **SIZES, constants="paper")}  # type: ignore[arg-type]
    sound = {row.mechanism: row for row in table_one(2, 4, 4, **SIZES)}  # type: ignore[arg-type]
    assert paper["Gaussian"].noise == "N(0, (H/ε)²)"
    assert "c² = 12 ln(1.25/δ₀)" in sound["Gaussian"].noise
    assert paper["Randomized response"].noise == "Ber(1/(e^{ε/H} − 1))"
    assert "Ber(1/(e^{ε/(6H)} + 1))" in sound["Randomized response"].noise
    assert paper["Bounded noise"].regret.startswith("H²S³")
    assert sound["Bounded noise"].regret.startswith("H³S³")
    assert paper["Laplace"] != sound["Laplace"]  # the step-dependent factor alone differs
    assert paper["Laplace"].noise == sound["Laplace"].noise == "Lap(6H/ε)"


def test_levels() -> None:
    rows = table_one(2, 4, 4, **SIZES)  # type: ignore[arg-type]
    assert [(row.epsilon, row.delta) for row in rows] == [
        (0.5, 0.0),
        (0.5, SIZES["delta"]),
        (0.5, 0.0),
        (0.5, SIZES["delta"]),
        (4 * 4 * 4 * 0.5, 0.0),
    ]


def test_step_dependent_factor() -> None:
    for constants, factor in (("paper", 8.0), ("sound", 4.0)):
        for row in table_one(2, 4, 4, **SIZES, constants=constants):  # type: ignore[arg-type]
            assert row.step_dependent_order == pytest.approx(factor * row.order)


@pytest.mark.parametrize("horizon", [1, 2, 10, 1000])
@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0])
def test_the_gaussian_of_the_sound_row_is_private(
    horizon: int, delta: float, epsilon: float
) -> None:
    assert gaussian_delta(horizon, 12 * math.log(1.25 / delta), epsilon) <= delta


def test_the_papers_gaussian_is_not_private_for_small_delta() -> None:
    assert gaussian_delta(10, 4 * math.log(24 / 1e-6), 1.0) > 20e-6


def gaussian_delta(horizon: int, c_squared: float, epsilon: float) -> float:
    """Exact δ(ε) of N(0, (cH/ε)²) at L2 sensitivity √(4H² + 2(H−1)²)."""
    sensitivity = math.sqrt(4 * horizon**2 + 2 * (horizon - 1) ** 2)
    mu = sensitivity * epsilon / math.sqrt(c_squared) / horizon
    below, above = norm.cdf(mu / 2 - epsilon / mu), norm.cdf(-mu / 2 - epsilon / mu)
    return float(below - math.exp(epsilon) * above)


def test_the_printed_bernoulli_parameter_is_no_probability() -> None:
    assert 1 / math.expm1(0.5 / 4) > 1
    assert 0 < 1 / (math.exp(0.5 / 24) + 1) < 0.5


@pytest.mark.parametrize(
    ("field", "value"),
    [("episodes", 0), ("epsilon", 0.0), ("delta", 0.0), ("delta", 1.0), ("constants", "print")],
)
def test_bad_input_is_refused(field: str, value: object) -> None:
    with pytest.raises(InputError) as error:
        table_one(2, 4, 4, **{**SIZES, field: value})  # type: ignore[arg-type]
    assert error.value.field == field
