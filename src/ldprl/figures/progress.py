"""How much there is to do, in which order to do it, and how long it will take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from ldprl.experiments.cells import Cell
from ldprl.figures.settings import GROWTH
from ldprl.simulation.engine import Simulation

Progress = Callable[[str, float, float], None]
"""Called with what is going on, which share of the work is done, and the seconds left."""

_DRAWING = 2.0
"""Seconds that the pictures of a figure take, about."""
_COMPILING = 5.0
"""Seconds that it takes to compile what a kind of cell needs, about."""
_NOT_COMPILED = {
    "ldp-evi": 8e-4,
    "ldp-ts": 2.5e-3,
    "private-ucb-vi": 4e-4,
    "dp-ucbvi": 4e-4,
    "pucb": 3e-4,
}
"""Seconds a step of the horizon for a plan and its users, about, where the loop is in Python."""


class Work:
    """How much is done and how long the rest will take.

    Work is counted in seconds of a typical core; how much slower this machine is shows as it goes.
    Compiling is counted by itself: a kind of cell takes it once, or not at all where the code is
    cached, and the kinds to come will take what those before took.

    Parameters
    ----------
    progress
        Told about it.
    cells, figures
        What is to be simulated, and how many figures drawn.
    processes
        How many work at the same time.
    clock
        What time it is.
    """

    def __init__(
        self,
        progress: Progress,
        cells: Sequence[Cell],
        figures: int,
        processes: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.compiling = 0.0
        self._progress = progress
        self._processes = processes
        self._clock = clock
        self._started = clock()
        self._total = sum(map(cost, cells)) + _DRAWING * figures
        self._done = 0.0
        self._kinds = {_kind(cell) for cell in cells}
        self._compiled: set[tuple[str, ...]] = set()
        self.show("simulating; compiling comes first")

    def simulated(self, cell: Cell, simulation: Simulation) -> None:
        """Count a cell."""
        self.compiling += simulation.compile_seconds
        self._compiled.add(_kind(cell))
        self._done += cost(cell)
        self.show(f"simulating: {cell} is done")

    def drawn(self, name: str) -> None:
        """Count a figure."""
        self._done += _DRAWING
        self.show(f"drawn {name}")

    def show(self, what: str) -> None:
        """Tell what is going on, the share that is done, and the seconds left."""
        self._progress(what, self._done / self._total, self.left())

    def left(self) -> float:
        """Return about how many seconds are left."""
        spent = (self._clock() - self._started) * self._processes - self.compiling
        # The typical core counts as five seconds of experience, so that first guesses are sane.
        slowness = (max(spent, 0.0) + 5) / (self._done + 5)
        to_compile = len(self._kinds - self._compiled)
        each = self.compiling / len(self._compiled) if self._compiled else _COMPILING
        return ((self._total - self._done) * slowness + to_compile * each) / self._processes


def ordered(cells: Sequence[Cell]) -> list[Cell]:
    """Put one cell of each kind first, so that each is compiled once, and then the longest."""
    longest = sorted(cells, key=cost, reverse=True)
    kinds = {_kind(cell): cell for cell in reversed(longest)}
    first = list(kinds.values())
    return first + [cell for cell in longest if cell not in first]


def _kind(cell: Cell) -> tuple[str, ...]:
    """Return what decides which code a cell runs."""
    return cell.learner, cell.mechanism, cell.constants


def cost(cell: Cell) -> float:
    """Return about how many seconds a cell takes: so much a plan, whatever the users it serves."""
    shape = cell.mdp.shape
    plans = min(cell.episodes, 1 / GROWTH) + max(math.log(cell.episodes * GROWTH), 0.0) / GROWTH
    size = shape.states**2 * shape.actions * shape.horizon
    each = 4e-6 + 0.1e-6 * size
    if cell.mechanism == "bounded-noise":  # a multinomial over a fine grid, for every counter
        each += 2e-4
    learner = cell.learner.split(",")[0]
    if learner in _NOT_COMPILED or cell.mechanism == "subset-selection":
        each += _NOT_COMPILED.get(learner, 4e-4) * shape.horizon + 3e-7 * size
    return cell.runs * plans * each
