"""Deployments that are in use keep their digests: apps are built for them."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from ldprl.assignment import Assignment
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.service.plans import plan_text
from ldprl.service.settings import DEMO

from .deployments import EVERY, SHAPE

ROOT = Path(__file__).parents[2]
STORED = {
    "bits-and-moves": "1dbfea63a684ce0f1f55120480f0c41790a6d3428f1db403b105083329f61a37",
    "bounded-noise": "12cdb3130ad1143dff1850c2ecc2ce88cf9119ec717b5e483267e8f19217d33a",
    "gaussian": "08c1f2ba218696c1b0b84088ca926a88ad1093f24ee030df9887ed990fe5adc3",
    "laplace": "b977b006cdef14150b7e2579b8412e8777f86435b23ca9a6b719c12000faace0",
    "randomized-response": "8fe808ba5866442734119dcac5a6cb39762890521ed5e9b6e857c7bc9f6de3a9",
    "return-bits": "a126c23b2297139557c2acf22b92ccf3a9431aa48cc66223bb5e4d488b31260e",
    "subset-selection": "948c6e56058f71d9351aa9f11576f4d3be4a479434a7c248fa76da11b27f256a",
    "each step": "3a8287ab84aef4a11b878bbe96b2f9a8129a4effe133ff41f3885005f16da379",
    "joint": "9d6e607d955319589aec5337071a1ee758246d7eaf31211c45d91c52706ee347",
    "separate": "948c6e56058f71d9351aa9f11576f4d3be4a479434a7c248fa76da11b27f256a",
    "two answers": "a1dca757958336d7586767a24199694ace48aca94eed6110d6047ce3dc1569e0",
    "joint answers": "3c03059f32016fa5c7776db8f3a7b66eb7082f02bc5dc18e449472cc9f04068b",
    "one step": "41db15dfa8f55682cd2d9903b6f61bc2b45e32f4c60fea84ae9d81606cc0425b",
    "laplace, each step": "455e4b0481d7fd0fcfce669420ad0bbfe80d43f321914a03d1e2b2132ec1461e",
    "certified": "09ccfae9df6e0371b4305a4f48940fa05c0baed2682fa33fc4648a84cac7afe5",
    "demo": "1555ad5f085f65879518692c87e6200a96cb81a00c2cfe09d56d6fb3eab02456",
    "adviser": "c58d059f89e6e4832a1d5f1a9cb7dec0631ab682ded8674866ec4c634b0cd6fb",
    "deploy.md": "9ede677b3f29e50b9530b1c66a95ef3670cd6ebaa124c7c58d80fd1f92157dae",
}  # fmt: skip
"""SHA-256 of each document, in format 2."""
FILES = {"demo": DEMO / "deployment.toml", "adviser": ROOT / "examples/adviser/deployment.toml"}


def served(name: str) -> Deployment:
    """Return one of the deployments of the tests, the examples and the pages."""
    if name in EVERY:
        return EVERY[name]
    if name == "deploy.md":
        page = (ROOT / "docs/how-to/deploy.md").read_text(encoding="utf-8")
        (text,) = re.findall(r'```toml title="advice.toml"\n(.*?)```', page, re.DOTALL)
        return Deployment.from_toml(tomllib.loads(text))
    return Deployment.from_toml(tomllib.loads(FILES[name].read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", [*EVERY, *FILES, "deploy.md"])
def test_a_deployment_keeps_its_digest(name: str) -> None:
    assert served(name).digest == STORED[name]


def test_what_a_user_receives_and_what_is_kept_stays_as_it_is() -> None:
    served, shape = EVERY["return-bits"], SHAPE
    chances = np.full((1, shape.states, shape.actions), 1 / shape.actions)
    law = TableDistribution.of(shape, chances, "0123456789abcdef" * 2)
    asked = (Question(Return(0, UNIT), 0, np.ones(shape.states)),)
    table = np.arange(shape.horizon * shape.states).reshape(shape.horizon, -1) % shape.actions
    plan = (Assignment(table, 0.25, asked), Assignment(law, 0.75, asked))
    issued = [Issued(served.digest, 7, 0, plan[0]), Issued(served.digest, 7, 1, plan[1], 2**39 + 5)]
    written = [*(one.document(served.built) for one in issued), json.loads(plan_text(plan))]
    assert [hashlib.sha256(json.dumps(one).encode()).hexdigest()[:16] for one in written] == [
        "1a9d8582964a3992",
        "fbf15c600bc5d5fd",
        "a22d64ade941d419",
    ]
