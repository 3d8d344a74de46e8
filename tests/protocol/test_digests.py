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
    "bits-and-moves": "c29be5edf7949944c34f337f9782ad9b47ebd811f8893481b6177ed59ad0d571",
    "bounded-noise": "b5a6a8e0851228d95dd4b3c80b434f1868025d48d3cd7768aef5a77fd25ff1cb",
    "gaussian": "42e5fb9112ce3e3ba5069b52c92a7acf5b02fd25782b3fc73a1e9b561d5960a0",
    "laplace": "bd3bd72ac7f4059ef8d05603701ce3cd2c8a5fc6ea0dd03d01252015af35aee4",
    "randomized-response": "f0637cbe59685ce1eeefb374ad8f1f729a0c24e286509eaa231d57a2a5d38884",
    "return-bits": "cbf8dce8de4468addef03c03e1f087038f8ab0cf40773b298d5bb2990e32f42e",
    "subset-selection": "53fe4607b4c610ce5f0e9dae44c028b6cd84dffc76fdeb44d1afa19e76829bd3",
    "each step": "c14ab31e3593e3c0ccc6e06ee2a4f24c83b9fcfdd75a9805aa288f82d537dd3b",
    "joint": "e73baa921caeac6ee8f011c61778af74daa848c0a72ddb55b1f35a00daf8833e",
    "separate": "53fe4607b4c610ce5f0e9dae44c028b6cd84dffc76fdeb44d1afa19e76829bd3",
    "two answers": "6d1a55bc9d016eabb17cdac04e6d8bebb9a3c48ce565f94aa033732654750f5e",
    "joint answers": "d4a01398fecb71a2924ec65842997960115dba0788b85e8f6c02d9b71d4cd3e6",
    "one step": "18c8c5d20c2f318a8c28b0faa5556298156c259aefcbd9d81d674e32ff6c6ce6",
    "laplace, each step": "c840b8205f3fdd1b0297118b05b4cb153e371584ad3f49cdb3cb3d44829363ae",
    "certified": "aae75c800ba9dca7ff850aa3a4117c01abe6c6ab146e7d4ce6ea10861abfcc67",
    "demo": "a9e5ee767a931f9b3f4497540b99cb0bdf2dfba785084b9e95e6ed34e76b46be",
    "adviser": "79799f9e7e18501a39b7453788258aa52e94a3c2cfbdcca150d3e218757a39d8",
    "deploy.md": "7e3768bcf45d977422b8d92ae4b1082ca2b5112ce1629e43d32b6fb702f4b5ec",
}  # fmt: skip
"""SHA-256 of each document, as version 0.2 has it."""
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
    law = TableDistribution.of(shape, chances, "0123456789abcdef" * 2, count=2**40)
    asked = (Question(Return(0, UNIT), 0, np.ones(shape.states)),)
    table = np.arange(shape.horizon * shape.states).reshape(shape.horizon, -1) % shape.actions
    plan = (Assignment(table, 0.25, asked), Assignment(law, 0.75, asked))
    issued = [Issued(served.digest, 7, 0, plan[0]), Issued(served.digest, 7, 1, plan[1], 2**39 + 5)]
    written = [*(one.document(served.built) for one in issued), json.loads(plan_text(plan))]
    assert [hashlib.sha256(json.dumps(one).encode()).hexdigest()[:16] for one in written] == [
        "6eb659d45db59924",
        "ba2becc85a48a408",
        "a8807e8041dc898b",
    ]
