"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

from typing import Any

from ldprl.figures.gallery.mechanisms import (
    not_as_private,
    ranking,
    reported_order,
    variance_of_bounded_noise,
)
from ldprl.figures.settings import EPSILONS
from tests.figures.fake import curve

MECHANISMS = ("laplace", "gaussian", "randomized-response", "bounded-noise")


def test_not_as_private() -> None:
    good = curve(mechanism="gaussian", delta=0.1, exact=0.05)
    bad = curve(mechanism="bounded-noise", delta=0.1, exact=0.27, epsilon=20.0)
    assert not_as_private([good]) == "Every curve is as private as claimed."
    said = not_as_private([good, bad])
    assert "Bounded noise at ε = 20 (δ = 0.27 where 0.1 is claimed)" in said
    assert "Gaussian" not in said


def _comparison(finals: dict[str, float], exact: float = 0.0, **more: Any) -> list[Any]:
    return [
        curve(
            finals[mechanism],
            mechanism=mechanism,
            epsilon=epsilon,
            delta=0.1,
            exact=exact if mechanism == "bounded-noise" else 0.0,
            **more,
        )
        for epsilon in EPSILONS
        for mechanism in MECHANISMS
    ]


def test_reported_order() -> None:
    as_reported = dict(zip(MECHANISMS, (2.0, 3.0, 4.0, 1.0), strict=True))
    assert "holds at every ε." in reported_order(_comparison(as_reported))
    not_private = reported_order(_comparison(as_reported, exact=0.5))
    assert "not private as claimed at ε = 0.2, 2 and 20" in not_private
    other = dict(zip(MECHANISMS, (2.0, 1.0, 4.0, 3.0), strict=True))
    assert "holds at no ε here." in reported_order(_comparison(other))
    first_only = dict(zip(MECHANISMS, (3.0, 2.0, 4.0, 1.0), strict=True))
    assert "but Laplace not second" in reported_order(_comparison(first_only))


def test_ranking_calls_near_equal_means_equal() -> None:
    finals = dict(zip(MECHANISMS, (2.0, 2.02, 4.0, 1.0), strict=True))
    said = ranking(_comparison(finals), "Here")
    assert "Bounded noise < Laplace ≈ Gaussian < Randomized response at ε = 0.2" in said


def test_variance_of_bounded_noise() -> None:
    curves = _comparison(dict.fromkeys(MECHANISMS, 1.0))
    assert "at no ε, where the paper says always" in variance_of_bounded_noise(curves)
    wide = [
        curve(1.0, mechanism=one.mechanism, epsilon=one.epsilon, spread=0.5)
        if one.mechanism == "bounded-noise"
        else one
        for one in curves
    ]
    assert "ε = 0.2, 2 and 20, as the paper says" in variance_of_bounded_noise(wide)
