"""Learners that have left the package are found under their old names where studies are."""

from __future__ import annotations

import importlib.util

import pytest

from ldprl.catalogue import LEARNERS
from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.learners import learner_of
from ldprl.shape import Shape
from studies.rivals import DPUCBVI, PUCB, PrivateUCBVI

MOVED = {"dp-ucbvi": DPUCBVI, "private-ucb-vi": PrivateUCBVI, "pucb": PUCB}


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_is_that_of_the_study(name: str) -> None:
    kind = MOVED[name]
    assert LEARNERS.find(name) is LEARNERS.find(f"studies.rivals:{kind.__name__}") is kind
    assert name not in LEARNERS


@pytest.mark.parametrize("name", MOVED)
def test_without_studies_it_is_said_where_it_went(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"or studies\.rivals:\w+ in a checkout") as refused:
        LEARNERS.find(name)
    assert (refused.value.field, refused.value.value) == ("learner", name)


def test_a_service_that_had_one_continues_in_a_checkout() -> None:
    deployment = Deployment("test", Shape(2, 2, 2), "1", learner="private-ucb-vi")
    assert isinstance(learner_of(deployment), PrivateUCBVI)
