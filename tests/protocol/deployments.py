"""Deployments of every kind."""

from __future__ import annotations

from ldprl import Shape
from ldprl.mechanisms.by_name import MECHANISMS, for_tables
from ldprl.protocol.certificate import Certified
from ldprl.protocol.deployment import Deployment
from ldprl.structure import Structure

SHAPE = Shape(3, 2, 4)
APPROXIMATE = ("gaussian", "bounded-noise")


def deployment(mechanism: str, epsilon: str = "1.5", shape: Shape = SHAPE) -> Deployment:
    delta = "0.01" if mechanism in APPROXIMATE else "0"
    return Deployment("tests", shape, epsilon, mechanism=mechanism, delta=delta)


EVERY = {name: deployment(name) for name in for_tables() if MECHANISMS[name].deployable}
EVERY["each step"] = deployment("subset-selection", shape=Shape(3, 2, 4, step_dependent=True))
EVERY["joint"] = Deployment("tests", SHAPE, "1.5", options={"layout": "joint"})
EVERY["separate"] = Deployment("tests", SHAPE, "1.5", options={"layout": "separate"})
EVERY["two answers"] = Deployment("tests", SHAPE, "6", options={"layout": "separate", "answers": 2})
EVERY["joint answers"] = Deployment("tests", SHAPE, "20", options={"layout": "joint", "answers": 4})
EVERY["one step"] = deployment("subset-selection", shape=Shape(2, 2, 1))
EVERY["laplace, each step"] = deployment("laplace", shape=Shape(3, 2, 4, step_dependent=True))
EVERY["certified"] = Deployment(
    "tests",
    SHAPE,
    "1.5",
    certificate=Certified("0.1", "0.95"),
    structure=Structure.from_document({"incumbent": [0, 1, 1]}, SHAPE),
)
