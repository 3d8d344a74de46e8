"""Every public name × every parameter × every kind of wrong argument: one line that names it.

Nothing of what is built behind the door may show: no AttributeError, TypeError, overflow or crash.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ldprl
from ldprl import (
    LDPES,
    LDPEVI,
    LDPOBI,
    LDPPSRL,
    LDPTS,
    PSRL,
    UCBVI,
    Assignment,
    BitsAndMoves,
    BoundedNoise,
    Budget,
    Contexts,
    Gaussian,
    InputError,
    Laplace,
    LDPReturns,
    LDPWays,
    NoPrivacy,
    RandomizedResponse,
    ReturnBits,
    Shape,
    Shuffle,
    SubsetSelection,
    TabularMDP,
    ThresholdBits,
    UCBVIBernstein,
    grid_world,
    hard_tree,
    learn,
    privacy_statement,
    random_mdp,
    recommended,
    riverswim,
    run_protocol,
    simulate,
)
from ldprl.policies.features import Feature
from ldprl.policies.linear import Linear
from ldprl.policies.network import Network
from ldprl.policies.parametric import ParametricPolicy
from ldprl.structure import Structure
from studies.rivals import DPUCBVI, PUCB, PrivateUCBVI

MDP = random_mdp(2, 2, 2, seed=3)
SHAPE = MDP.shape
LAPLACE, ASKING, BITS = Laplace(SHAPE, 1.0), SubsetSelection(SHAPE, 1.0), ReturnBits(SHAPE, 1.0)
LINEAR = Linear(features=("x",), actions=("a", "b"), horizon=2, returns=(0, 1))
KNOWN = Structure(SHAPE, groups=np.array([0, 1]))
OTHER = Structure(Shape(3, 2, 2))
HUGE = 10**400
"""Larger than every float."""

NUMBER = ("2", "two", b"1", True, None, math.nan, math.inf, -1.0, HUGE, (1.0,), float, np.ones(2))
FAR = (1e-320, 1e-30, 1e30, 1e300)
"""No ε of a report: e^ε is no number, or no noise is wide enough."""
WHOLE = ("2", True, None, math.nan, math.inf, 1.5, -1, 10**30, HUGE, (1,), int, np.ones(2, int))
SWITCH = ("yes", 1.5, (True,), bool, 2)
WORD: tuple[object, ...] = ("no-such-name", 3, True, ("sound",), ["sound"], {}, str, math.nan)
SIZES = ((2, 2, 2), [2, 2, 2], 2, "2,2,2", None, Shape, MDP, LAPLACE)
RANDOMIZER = (Laplace, MDP, SHAPE, LDPOBI(LAPLACE), 1.0, "laplace", None)
WORLD = (TabularMDP, SHAPE, LAPLACE, LDPOBI(LAPLACE), "random:2,2,2,0", None, random_mdp)
AGENT = (LDPOBI, LAPLACE, MDP, "ldp-obi", None)
KNOWLEDGE = (Structure, {"groups": [0, 1]}, [[1]], "groups", SHAPE, OTHER)
TABLE = (
    "text",
    None,
    1.0,
    np.ones(3),
    np.full((2, 2, 2), np.nan),
    [[1], [1, 2]],
    dict,
    -MDP.rewards,
)

KINDS: dict[str, tuple[object, ...]] = {
    "epsilon": (*NUMBER, *FAR), "delta": NUMBER, "alpha": NUMBER, "failure_probability": NUMBER,
    "concentration": NUMBER, "slip": NUMBER, "crowd_delta": NUMBER,
    "states": WHOLE, "actions": WHOLE, "horizon": WHOLE, "episodes": WHOLE, "runs": WHOLE,
    "workers": WHOLE, "rows": WHOLE, "columns": WHOLE, "answers": WHOLE, "draws": WHOLE,
    "leaf": WHOLE, "action": WHOLE, "reward_bits": WHOLE, "resolution": WHOLE, "crowd": WHOLE,
    "lag": ("2", True, math.nan, 1.5, -1, (1,), None, int),
    "memory": ("2", True, math.nan, 1.5, -1, 0, (1,), int),
    "seed": ("2", True, None, math.nan, math.inf, 1.5, -1, (1,), int),
    "known": ("text", 3, None),
    "squares": SWITCH, "policy_aware": SWITCH, "step_dependent": SWITCH,
    "common_random_numbers": SWITCH,
    "constants": WORD, "layout": WORD, "engine": WORD, "replan": WORD, "reward_kind": WORD,
    "shape": SIZES, "mechanism": RANDOMIZER, "mdp": WORLD, "learner": AGENT,
    "structure": KNOWLEDGE, "transitions": TABLE, "rewards": TABLE, "initial": TABLE,
    "groups": TABLE, "incumbent": TABLE, "admissible": TABLE, "successors": TABLE,
    "reports": ("2", (1.5,), (-1,), ("2",), (True,), 3, None), "policies": TABLE,
    "env": (3, None, "no-such-env", LAPLACE, MDP, dict), "policy": (*WORD, "table", MDP),
    "users": WHOLE, "hidden": ("16", 16, (0,), (1.5,), ("a",), ()), "activation": WORD,
    "return_range": ((1, 0), (0,), "0,1", 3, (0, math.nan), ("a", "b")), "spread": NUMBER,
    "start": ("zeros", (1.0,), math.nan, MDP), "scale": ((0, 1), "1", 3, (1,), (-1, 1), ("a", 1)),
    "features": TABLE, "returns": ((1, 0), (0,), "0,1", 3, None, (0, math.nan), ("a", "b")),
    "problem": (Linear, SHAPE, LAPLACE, LINEAR.document(), "linear", None), "memory_users": WHOLE,
    "parameters": TABLE, "name": (3, None, True, "", "x" * 101, ("x",)),
    "unit": (3, None, True, "x" * 101), "categories": TABLE,
    "centre": ("x", True, None, math.nan, HUGE, 1e300, np.ones(2)),
    "world": (*WORLD[2:], TabularMDP), "share": NUMBER, "questions": ("text", ("text",), 3, None),
}  # fmt: skip


def network(
    features: Any,
    actions: Any,
    horizon: int,
    returns: Any,
    spread: Any = 1.0,
    start: Any = None,
    hidden: Any = (2,),
    activation: Any = "tanh",
) -> Network:
    given = {"spread": spread, "start": start, "hidden": hidden, "activation": activation}
    return Network(features=features, actions=actions, horizon=horizon, returns=returns, **given)


FREE = {"progress", "status", "stop"}
"""What is called back, and not looked at before."""
FINE: dict[str, tuple[object, ...]] = {
    "memory": (None,), "structure": (None,), "answers": (None,), "initial": (None,),
    "crowd": (None,),
}  # fmt: skip
LATER = {(Assignment, "policies"), (Assignment, "share")}
"""What is looked at when a plan with it enters, by :func:`ldprl.assignment.check_plan`."""
MEANT: dict[tuple[object, str], tuple[object, ...]] = {
    (Budget, "epsilon"): ("2", *FAR),
    (hard_tree, "episodes"): (10**30, HUGE),
    (hard_tree, "epsilon"): (1e30, 1e300),
    (learn, "epsilon"): (None,),
    (learn, "spread"): ("2",),
    (network, "spread"): ("2",),
    (Feature, "scale"): (3,),
    (LDPES, "memory_users"): (10**30, HUGE),
    (run_protocol, "replan"): (str,),
}
"""What means something although it is in the list of its kind. Decimal text is a number of a budget
and of a policy; a budget and a hardest instance may have any ε; without ε there is no privacy; any
number of users has a hardest instance; a class can be called, and what it returns is looked at
later."""

NOISY = (SHAPE, 1.0)
GOOD: dict[Callable[..., Any], tuple[Any, ...]] = {
    Shape: (2, 2, 2),
    random_mdp: (2, 2, 2, 0),
    riverswim: (3, 4),
    grid_world: (2, 2, 3),
    hard_tree: (4, 2, 4, 10**4, 1.0),
    TabularMDP: (MDP.transitions, MDP.rewards, 2),
    Structure: (SHAPE,),
    Laplace: NOISY,
    Gaussian: (*NOISY, 1e-5),
    BoundedNoise: (*NOISY, 1e-5),
    RandomizedResponse: NOISY,
    Shuffle: NOISY,
    SubsetSelection: NOISY,
    ReturnBits: NOISY,
    BitsAndMoves: NOISY,
    NoPrivacy: (SHAPE,),
    LDPOBI: (LAPLACE,),
    LDPEVI: (ASKING,),
    LDPTS: (ASKING,),
    LDPPSRL: (Laplace(SHAPE, 1.0, squares=True), 100),
    LDPReturns: (BITS,),
    LDPWays: (BitsAndMoves(SHAPE, 1.0),),
    DPUCBVI: (LAPLACE,),
    PrivateUCBVI: (LAPLACE,),
    PUCB: (SHAPE, 1.0, 100),
    PSRL: (),
    UCBVI: (),
    UCBVIBernstein: (),
    Budget: (1.0, 0.1),
    privacy_statement: (LAPLACE,),
    simulate: (MDP, LDPOBI(LAPLACE), LAPLACE, 5),
    run_protocol: (MDP, LDPOBI(LAPLACE), LAPLACE, 5),
    Contexts: (np.ones((3, 2)), np.ones((3, 2))),
    learn: (Contexts(np.ones((3, 2)), np.ones((3, 2))), "linear", 1.0, 5),
    recommended: (MDP, 1.0),
    Assignment: (np.zeros((2, 2), dtype=np.int64),),
    Feature: ("x",),
    network: (("x",), ("a", "b"), 2, (0, 1)),
    ThresholdBits: (LINEAR, 1.0),
    LDPES: (ThresholdBits(LINEAR, 1.0),),
    ParametricPolicy: (LINEAR, np.zeros(LINEAR.size)),
}
ELSEWHERE = {
    "CountingMechanism", "Mechanism", "Learner", "InputError", "PrivacyWarning", "Simulation",
    "Statistics", "Trajectory", "Ledger", "Rollouts",
}  # fmt: skip
"""Bases and results, which nobody builds; statistics are looked at where they are planned from,
trajectories where they are privatized, and a user's ledger has tests of its own."""


@dataclass(frozen=True)
class Mistake:
    made: Callable[..., Any]
    parameter: str
    value: object

    def __str__(self) -> str:
        return f"{self.made.__name__}({self.parameter}={_short(self.value)})"


def _short(value: object) -> str:
    if isinstance(value, int) and value == HUGE:
        return "10**400"
    # Without addresses: processes that share the tests must name them alike.
    return value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)[:30]


def mistakes() -> Iterator[Mistake]:
    for made in GOOD:
        for name, parameter in inspect.signature(made).parameters.items():
            if name in FREE or (made, name) in LATER:
                continue
            for value in KINDS[name]:
                fine = (parameter.default, *FINE.get(name, ()), *MEANT.get((made, name), ()))
                if not any(_same(value, one) for one in fine):
                    yield Mistake(made, name, value)


def _same(value: object, other: object) -> bool:
    return value is other or (type(value) is type(other) in (int, str) and value == other)


def test_no_public_name_and_no_parameter_is_left_out() -> None:
    known = {made.__name__ for made in GOOD} | ELSEWHERE | {"__version__"}
    assert set(ldprl.__all__) <= known
    for made, good in GOOD.items():
        made(*good)


@pytest.mark.parametrize("mistake", list(mistakes()), ids=str)
def test_a_wrong_argument_is_refused_in_one_line(mistake: Mistake) -> None:
    good = inspect.signature(mistake.made).bind(*GOOD[mistake.made]).arguments
    with pytest.raises(InputError) as caught:
        mistake.made(**(good | {mistake.parameter: mistake.value}))
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 700
