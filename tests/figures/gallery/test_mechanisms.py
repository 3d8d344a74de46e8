"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

from typing import Any

from ldprl.figures.gallery.mechanisms import reported_order
from ldprl.figures.settings import EPSILONS
from tests.figures.fake import curve

MECHANISMS = ("laplace", "gaussian", "randomized-response", "bounded-noise")


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
