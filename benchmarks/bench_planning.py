"""One plan at S=100, A=10, H=20 beside a matrix product of the same size, measured in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.row import Row
from ldprl.kernels.values import solve
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.mechanisms.laplace import Laplace
from ldprl.shape import Shape
from ldprl.statistics import Statistics

SHAPE = Shape(states=100, actions=10, horizon=20)
USERS = 10**8
REPETITIONS = 300


def run() -> list[Row]:
    """Measure LDP-OBI's plan, with and without its estimates, against (SA×S)·(S×H) in BLAS."""
    rng = np.random.default_rng(0)
    sums = _sums(rng)
    learner = LDPOBI(Laplace(SHAPE, 2.0))
    rewards, moves = sums.rewards / USERS, sums.transitions / USERS
    matrix = rng.random((SHAPE.states * SHAPE.actions, SHAPE.states))
    values = rng.random((SHAPE.states, SHAPE.horizon))

    sizes = f"S={SHAPE.states}, A={SHAPE.actions}, H={SHAPE.horizon}"
    whole, whole_product = _in_turns(lambda: learner.optimistic(sums), lambda: matrix @ values)
    bare, bare_product = _in_turns(
        lambda: solve(SHAPE, rewards, moves),
        lambda: matrix @ values,
    )
    product = "BLAS product (SA×S)·(S×H)"
    return [
        Row(f"LDP-OBI: sums to policy, {sizes}", whole, product, whole_product, limit=5.0),
        Row(f"backward induction alone, {sizes}", bare, product, bare_product, limit=5.0),
    ]


def _sums(rng: np.random.Generator) -> Statistics:
    """Return what 10⁸ users' reports could add up to: counts with noise around them."""
    cells = (1, SHAPE.states, SHAPE.actions)
    noise = Laplace(SHAPE, 2.0).scale * np.sqrt(2 * USERS)
    visits = USERS * SHAPE.horizon / SHAPE.cells
    return Statistics(
        shape=SHAPE,
        users=USERS,
        rewards=visits / 2 + rng.normal(0, noise, cells),
        visits=visits + rng.normal(0, noise, cells),
        transitions=visits / SHAPE.states + rng.normal(0, noise, (*cells, SHAPE.states)),
        reports=rng.integers(USERS // 2, USERS, cells),
    )


def _in_turns(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Return the median seconds of both, called one after the other so that load hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPETITIONS):
        for call, kept in zip((ours, theirs), times, strict=True):
            started = time.perf_counter()
            call()
            kept.append(time.perf_counter() - started)
    return median(times[0]), median(times[1])
