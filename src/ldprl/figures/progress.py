"""The amount of work, its order, and the remaining time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from ldprl.experiments.cells import Cell
from ldprl.figures.settings import GROWTH
from ldprl.simulation.engine import Simulation

Progress = Callable[[str, float, float], None]
"""Called with the current activity, the share of the work that is done, and the seconds left."""

_DRAWING = 2.0
"""Approximate seconds for the pictures of a figure."""
_COMPILING = 5.0
"""Approximate seconds to compile the code of a kind of cell."""
_NOT_COMPILED = {
    "ldp-evi": 8e-4,
    "ldp-ts": 2.5e-3,
    "private-ucb-vi": 4e-4,
    "dp-ucbvi": 4e-4,
    "pucb": 3e-4,
}
"""Approximate seconds for a plan and its users, per step of the horizon, in the Python loop."""


class Work:
    """How much is done and how long the rest will take.

    Work is counted in seconds of a typical core; the speed of this machine is measured on the way.
    Compiling is counted separately: a kind of cell is compiled once, or not at all if the code is
    cached, and the remaining kinds are expected to take as long as the earlier ones.

    Parameters
    ----------
    progress
        Called after each step.
    cells, figures
        What is to be simulated, and how many figures drawn.
    processes
        Number of processes at work.
    clock
        Returns the time in seconds.
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
        """Report the current activity, the share that is done, and the seconds left."""
        self._progress(what, self._done / self._total, self.left())

    def left(self) -> float:
        """Return the approximate number of seconds left."""
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
    """Return the fields that decide which code a cell runs."""
    return cell.learner, cell.mechanism, cell.constants


def cost(cell: Cell) -> float:
    """Return the approximate seconds of a cell: a time per plan, whatever its number of users."""
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
