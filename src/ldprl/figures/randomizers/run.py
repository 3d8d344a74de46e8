"""Makes the data of the map of randomizers: formulas, and a client's time as measured here."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ldprl.assignment import Assignment
from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.randomizers.comparison import (
    Needs,
    Row,
    counting,
    joint,
    many_answers,
    one_state,
    separate,
    value_bit,
)
from ldprl.figures.randomizers.oracles import ORACLES
from ldprl.figures.randomizers.sweep import (
    ACTIONS,
    DELTA,
    EPSILONS,
    HORIZONS,
    ROWS,
    SHOWN_HORIZON,
    STATES,
    TIMED,
    TIMED_EPSILON,
)
from ldprl.mechanisms.catalogue import build_mechanism
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.layout import Layout
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.randomized_response import RandomizedResponse
from ldprl.mechanisms.rows import RowLaws, additive_laws
from ldprl.mechanisms.sampling import SystemSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Shape

_REPEATS = 5
Record = dict[str, Any]


def run(laboratory: Laboratory) -> pa.Table:
    """Return a line for each randomizer, S, H, ε and kind of row, and for each measured time."""
    records = []
    for states, horizon, epsilon in itertools.product(STATES, HORIZONS, EPSILONS):
        shape = Shape(states, ACTIONS, horizon)
        laws = _counting_laws(shape, epsilon)
        where = {"states": states, "horizon": horizon, "epsilon": epsilon}
        for name, (occupancy, spread) in ROWS.items():
            row = Row(shape, occupancy or 1 / states, spread)
            given = {**where, "row": name, "occupancy": row.occupancy, "spread": spread}
            records += [{**given, **found} for found in _found(row, epsilon, laws)]
    return pa.Table.from_pylist([*records, *_times()], _SCHEMA)


_SCHEMA = pa.schema(
    [
        ("randomizer", pa.string()),
        ("states", pa.int64()),
        ("horizon", pa.int64()),
        ("epsilon", pa.float64()),
        ("row", pa.string()),
        ("occupancy", pa.float64()),
        ("spread", pa.float64()),
        ("layout", pa.string()),
        ("answers", pa.int64()),
        ("reward", pa.float64()),
        ("transitions", pa.float64()),
        ("value", pa.float64()),
        ("bits", pa.float64()),
        ("seconds", pa.float64()),
    ]
)


def _found(row: Row, epsilon: float, laws: dict[str, RowLaws]) -> Iterator[Record]:
    states = row.shape.states
    items = {"separate": states**2 + 1, "joint": 2 * states**2 + 1}
    for oracle in ORACLES:
        layouts = {
            "separate": separate(row, epsilon, oracle),
            "joint": joint(row, epsilon, oracle),
        }
        layout = min(layouts, key=lambda name: layouts[name].value)
        bits = oracle.bits(items[layout], epsilon)
        yield _record(oracle.name, layouts[layout], layout=layout, answers=1, bits=bits)
    answers, needs = min(many_answers(row, epsilon), key=lambda pair: pair[1].value)
    yield _record("several answers", needs, answers=answers)
    yield _record("one state asked about", one_state(row, epsilon), answers=1)
    yield _record("bit of the value", value_bit(row, epsilon), answers=1)
    for name, law in laws.items():
        # A byte a counter is the least that a report of counters takes.
        yield _record(name, counting(law, row), bits=8.0 * Layout(row.shape).length)


def _record(randomizer: str, needs: Needs, **more: Any) -> Record:
    return {
        "randomizer": randomizer,
        "reward": needs.reward,
        "transitions": needs.transitions,
        "value": needs.value,
        **more,
    }


def _counting_laws(shape: Shape, epsilon: float) -> dict[str, RowLaws]:
    # How much noise there is depends on H alone; the least Gaussian one takes long to find.
    small = Shape(2, 2, shape.horizon)
    variance = float(Gaussian(small, epsilon, DELTA).variance)
    return {
        "Laplace": Laplace(shape, epsilon).row_laws,
        "Gaussian": additive_laws(shape, variance, variance, variance, 0.0),
        "randomized response": RandomizedResponse(shape, epsilon).row_laws,
        "no privacy": NoPrivacy(shape).row_laws,
    }


def _times() -> Iterator[Record]:
    names = {
        "subset-selection": "subset selection",
        "laplace": "Laplace",
        "gaussian": "Gaussian",
        "randomized-response": "randomized response",
    }
    for states in TIMED:
        shape = Shape(states, ACTIONS, SHOWN_HORIZON)
        for name, title in names.items():
            seconds = _seconds(build_mechanism(name, shape, TIMED_EPSILON, DELTA))
            where = {"states": states, "horizon": SHOWN_HORIZON, "epsilon": TIMED_EPSILON}
            yield {"randomizer": title, **where, "seconds": seconds}


def _seconds(mechanism: Mechanism) -> float:
    """Return the median time of one report about the last question, which has the most items."""
    steps, states = mechanism.shape.horizon, mechanism.shape.states
    (*_, assignment) = mechanism.ask((Assignment(np.zeros((steps, states), dtype=np.int64)),))
    trajectory, source = Trajectory((0,) * steps, (0,) * steps, (0.5,) * steps), SystemSource()
    times = []
    for _ in range(_REPEATS + 1):  # the first one fills caches
        started = time.perf_counter()
        mechanism.privatize(trajectory, assignment, source)
        times.append(time.perf_counter() - started)
    return float(np.median(times[1:]))
