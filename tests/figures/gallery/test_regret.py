"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

import pytest

from ldprl.figures.gallery import regret
from ldprl.figures.settings import EPSILONS
from tests.figures.fake import curve, table


@pytest.mark.parametrize(
    ("sampled", "verdict"),
    [(90.0, "slightly better” holds."), (10.0, "says too little"), (110.0, "does not hold at")],
)
def test_sampling_against_optimism(sampled: float, verdict: str) -> None:
    optimist = [curve(100.0, epsilon=epsilon) for epsilon in EPSILONS]
    sampler = [curve(sampled, learner="ldp-psrl", epsilon=epsilon) for epsilon in EPSILONS]
    assert verdict in regret.sampling_against_optimism(optimist, sampler)


def test_losing_at_one_epsilon_is_named() -> None:
    optimist = [curve(100.0, epsilon=epsilon) for epsilon in EPSILONS]
    sampler = [curve(5 * epsilon * 10, learner="ldp-psrl", epsilon=epsilon) for epsilon in EPSILONS]
    said = regret.sampling_against_optimism(optimist, sampler)
    assert "does not hold at ε = 2 and 20." in said


def test_all_of_figure_one() -> None:
    curves = [
        curve(final, learner=learner, mechanism=mechanism, epsilon=epsilon, constants=constants)
        for constants in ("paper", "sound")
        for learner, mechanism, final in (
            ("ldp-obi", "laplace", 200.0),
            ("ldp-psrl", "laplace", 100.0),
            ("ucb-vi", "none", 50.0),
            ("psrl", "none", 25.0),
        )
        for epsilon in (EPSILONS if mechanism == "laplace" else (1.0,))
    ]
    curves += [
        curve(
            final, learner=learner, mechanism="subset-selection", epsilon=level, constants="sound"
        )
        for learner, final in (("ldp-evi", 40.0), ("ldp-ts", 20.0))
        for level in EPSILONS
    ]
    found = regret.findings(table(curves))
    assert "LDP-OBI has 2.00, 2.00 and 2.00 times the regret of LDP-PSRL" in found.sentences[0]
    assert len(found.grids[0].rows) == len(curves)
