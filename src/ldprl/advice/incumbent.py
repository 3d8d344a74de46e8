"""What is in use today, and when learning does as well."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ldprl.advice.adviser import Advice
from ldprl.advice.scenarios import given_scenario
from ldprl.disk import read_json
from ldprl.errors import InputError, real
from ldprl.shape import Shape, check_policy
from ldprl.worlds.evaluation import regret
from ldprl.worlds.tabular import TabularMDP

_EXPECTED = "a loss from 0 to 1, or with --mdp a JSON file with an (H, S) table of actions"


def incumbent_loss(text: str, problem: Shape | TabularMDP) -> float:
    """Read the policy loss of what is in use: a number, or the file of a policy."""
    try:
        value = float(text)
    except ValueError:
        return _of_policy(text, problem)
    if not 0 <= real("incumbent", value, _EXPECTED) <= 1:
        raise InputError("incumbent", value, _EXPECTED)
    return value


def _of_policy(path: str, problem: Shape | TabularMDP) -> float:
    if isinstance(problem, Shape):
        raise InputError("incumbent", path, _EXPECTED)
    table = read_json("incumbent", Path(path))
    policy = check_policy("incumbent", table, problem.shape)
    return regret(problem, policy) / given_scenario(problem).worth


def made_up_for_after(advice: Advice, loss: float) -> float:
    """Return after how many users all of them together have lost no more than with the incumbent.

    Infinite if that is not within the simulated users.
    """
    ahead = advice.ahead
    above = np.flatnonzero(ahead.totals.mean(axis=0) > loss)
    if not len(above):
        return float(ahead.points[0])
    return math.inf if above[-1] + 1 == len(ahead.points) else float(ahead.points[above[-1] + 1])
