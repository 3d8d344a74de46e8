"""A deployment whose users see vectors, and a world for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldprl.policies.parametric import Parametric
from ldprl.protocol.deployment import Deployment
from ldprl.worlds.contexts import Contexts
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.sampled_from import world_with

POLICY = """
[policy]
kind = "linear"
horizon = 1
returns = [0, 1]
actions = ["stay", "go"]
features = [{name = "pulse", unit = "1/min", centre = "70", scale = "10"}, "sleep"]
"""
HEAD = """
name = "vectors"
epsilon = "4"
first_epoch = 60
epochs = "growth:0.2"
"""
DEPLOYMENT = HEAD + POLICY


def world_arrays() -> dict[str, Any]:
    """Return a world in which it is right to go with a high pulse, as arrays."""
    rng = np.random.default_rng(0)
    seen = np.stack([rng.normal(70, 10, 500), rng.normal(size=500)], axis=1)
    right = (seen[:, 0] > 70).astype(np.float64)
    return {"features": seen, "rewards": np.stack([1 - right, right], axis=1)}


def world(deployment: Deployment) -> SampledWorld:
    """Return this world for the policies of a deployment."""
    problem = deployment.problem
    assert isinstance(problem, Parametric)
    return world_with(Contexts(**world_arrays()), problem)
