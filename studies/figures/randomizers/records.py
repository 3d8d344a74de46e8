"""The table of the map: what each randomizer needs, by formula, and a client's time as measured."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ldprl.assignment import Assignment
from ldprl.figures.cells import CellRunner
from ldprl.figures.curves import Record
from ldprl.layout import Layout
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.randomized_response import RandomizedResponse
from ldprl.mechanisms.row_laws import RowLaws, additive_laws
from ldprl.mechanisms.sampling import SystemSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Shape
from studies.figures.randomizers.comparison import (
    AskedRow,
    Needs,
    counting,
    joint,
    many_answers,
    one_state,
    separate,
    value_bit,
)
from studies.figures.randomizers.oracles import ORACLES, SUBSETS

STATES = (2, 3, 5, 10, 20, 50, 100)
HORIZONS = (2, 5, 20)
EPSILONS = (0.2, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 20.0)
SHOWN, CROWDED = "users spread evenly", "all users are in one state"
ROWS = {
    SHOWN: (None, 0.5),
    "values nearly alike": (None, 0.1),
    "values far apart": (None, 2.5),
    CROWDED: (1.0, 0.5),
}
"""Share of users in the state asked for (None: 1/S), standard deviation of V over the next ones."""
SHOWN_HORIZON = 5
ACTIONS = 2
DELTA = 1e-6
"""Of Gaussian noise; all others are pure."""
TIMED = (2, 10, 30)
"""S of the problems for which a client's time is measured, at ε = 2."""
TIMED_EPSILON = 2.0
_REPEATS = 5
Place = tuple[int, int, float]
"""S, H and ε."""
COUNTING = ("Laplace", "Gaussian", "randomized response")
SEVERAL, VALUE, ONE_STATE = "several answers", "bit of the value", "one state asked about"
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


def make_table(runner: CellRunner) -> pa.Table:
    """Return a line for each randomizer, S, H, ε and kind of row, and for each measured time."""
    records = []
    for states, horizon, epsilon in itertools.product(STATES, HORIZONS, EPSILONS):
        shape = Shape(states, ACTIONS, horizon)
        laws = _counting_laws(shape, epsilon)
        where = {"states": states, "horizon": horizon, "epsilon": epsilon}
        for name, (occupancy, spread) in ROWS.items():
            row = AskedRow(shape, occupancy or 1 / states, spread)
            given = {**where, "row": name, "occupancy": row.occupancy, "spread": spread}
            records += [{**given, **found} for found in _found(row, epsilon, laws)]
    return pa.Table.from_pylist([*records, *_times()], _SCHEMA)


def _found(row: AskedRow, epsilon: float, laws: dict[str, RowLaws]) -> Iterator[Record]:
    states = row.shape.states
    items = {"separate": states**2 + 1, "joint": 2 * states**2 + 1}
    for oracle in ORACLES:
        layouts = {"separate": separate(row, epsilon, oracle), "joint": joint(row, epsilon, oracle)}
        layout = min(layouts, key=lambda name: layouts[name].value)
        bits = oracle.bits(items[layout], epsilon)
        yield _record(oracle.name, layouts[layout], layout=layout, answers=1, bits=bits)
    answers, needs = min(many_answers(row, epsilon), key=lambda pair: pair[1].value)
    yield _record(SEVERAL, needs, answers=answers)
    yield _record(ONE_STATE, one_state(row, epsilon), answers=1)
    yield _record(VALUE, value_bit(row, epsilon), answers=1)
    for name, law in laws.items():
        # A byte for each counter is the least that a report of counters takes.
        yield _record(name, counting(law, row), bits=8.0 * Layout(row.shape).length)


def _record(randomizer: str, needs: Needs, **more: object) -> Record:
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


class Map:
    """The variances, by randomizer and place."""

    def __init__(self, table: pa.Table) -> None:
        records = table.to_pylist()
        self.times = [record for record in records if record["seconds"] is not None]
        self._known: dict[tuple[str, Place, str], Record] = {}
        for record in records:
            if record["value"] is not None:
                place = record["states"], record["horizon"], record["epsilon"]
                self._known[record["randomizer"], place, record["row"]] = record
        keys = list(self._known)
        self.places = list(dict.fromkeys(place for _, place, _ in keys))
        self.rows = list(dict.fromkeys(row for _, _, row in keys))

    def at(self, randomizer: str, place: Place, row: str = SHOWN) -> Record:
        """Return the record of a randomizer."""
        return self._known[randomizer, place, row]

    def ratio(self, randomizer: str, place: Place, row: str = SHOWN) -> float:
        """Return how many times the users of subset selection with one question it needs."""
        needed = self.at(randomizer, place, row)["value"]
        return float(needed / self.at(SUBSETS.name, place, row)["value"])
