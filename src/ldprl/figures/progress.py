"""The amount of work, its order, and the remaining time."""

from __future__ import annotations

import heapq
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence

from ldprl.experiments.cells import Cell
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.simulation.engine import Simulation
from ldprl.simulation.replan import plans_until, replan_from

Progress = Callable[[str, float, float], None]
"""Called with the current activity, the share of the work that is done, and the seconds left."""
Kind = tuple[object, ...]
"""Cells of one kind run the same code on tables of the same size."""

_DRAWING = 2.0
"""Approximate seconds for the pictures of a figure."""
_COMPILING = 5.0
"""Approximate seconds to compile the code of a learner and a mechanism."""
_PRIOR = 0.02
"""Seconds of experience that other kinds count for: after its first cell a kind is judged by its
own time. Chosen so that a cell of 0.2 s, the shortest that matters, outweighs them ten times."""


class Work:
    """How much is done and how long the rest will take.

    Work is counted in seconds of a typical core by :func:`cost`, which can be wrong by a factor for
    a kind of cell. So the time of finished cells corrects it, kind by kind; :func:`ordered` puts a
    short cell of each kind first. The rest is what the processes will need that take the remaining
    cells in their order. A pair of learner and mechanism is compiled once, or not at all if the
    code is cached; the remaining pairs are expected to take as long as the earlier ones.

    Parameters
    ----------
    progress
        Called after each step.
    cells, figures
        What is simulated, in this order, and how many figures are drawn after it.
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
        self._progress, self._processes, self._clock = progress, processes, clock
        self._about = {id(cell): (_kind(cell), cost(cell)) for cell in cells}
        self._total = sum(size for _, size in self._about.values()) + _DRAWING * figures
        self._done, self._to_draw = 0.0, figures
        self._waiting = deque(cells)
        self._running: dict[int, tuple[Cell, float]] = {}
        self._predicted: dict[Kind, float] = defaultdict(float)
        self._measured: dict[Kind, float] = defaultdict(float)
        self._compiled: set[Kind] = set()
        for _ in range(processes):
            self._start_next()
        pictures = f"{figures} figure{'s' * (figures != 1)} to draw"
        self.show(
            f"{len(cells)} curves to simulate, {pictures}: about {duration(self.left())} on"
            f" {processes} process{'es' * (processes != 1)}"
        )

    def _start_next(self) -> None:
        if self._waiting:
            cell = self._waiting.popleft()
            self._running[id(cell)] = (cell, self._clock())

    def simulated(self, cell: Cell, simulation: Simulation) -> None:
        """Count a cell; its process takes the next one."""
        kind, size = self._about[id(cell)]
        self.compiling += simulation.compile_seconds
        self._compiled.add(_code(kind))
        self._predicted[kind] += size
        self._measured[kind] += simulation.seconds
        self._done += size
        self._running.pop(id(cell), None)
        self._start_next()
        self.show(f"simulating: {cell} is done")

    def drawn(self, name: str) -> None:
        """Count a figure."""
        self._done += _DRAWING
        self._to_draw -= 1
        self.show(f"drawn {name}")

    def show(self, what: str) -> None:
        """Report the current activity, the share that is done, and the seconds left."""
        self._progress(what, min(self._done / self._total, 1.0), self.left())

    def left(self) -> float:
        """Return the approximate number of seconds left."""
        # The typical core counts as one second of experience, so that first guesses are sane.
        usual = (sum(self._measured.values()) + 1) / (sum(self._predicted.values()) + 1)
        compiling = self.compiling / len(self._compiled) if self._compiled else _COMPILING
        compiled = set(self._compiled)

        def seconds(cell: Cell) -> float:
            kind, size = self._about[id(cell)]
            own = (self._measured[kind] + _PRIOR * usual) / (self._predicted[kind] + _PRIOR)
            first = 0.0 if _code(kind) in compiled else compiling
            compiled.add(_code(kind))
            return own * size + first

        now = self._clock()
        free = [max(seconds(cell) - (now - begun), 0.0) for cell, begun in self._running.values()]
        free += [0.0] * (self._processes - len(free))
        heapq.heapify(free)
        for cell in self._waiting:
            heapq.heapreplace(free, free[0] + seconds(cell))
        return max(free) + _DRAWING * self._to_draw / self._processes


def ordered(cells: Sequence[Cell]) -> list[Cell]:
    """Put the shortest cell of each kind first, which says how long the others take.

    Of these a cell of each pair leads, so that no two processes compile the same code side by side.
    The longest of the others follow, so that no process is left with a long one at the end.
    """
    longest = sorted(cells, key=cost, reverse=True)
    shortest = {_kind(cell): cell for cell in longest}
    pairs = {_code(kind): cell for kind, cell in reversed(shortest.items())}
    first = {id(cell): cell for cell in [*reversed(pairs.values()), *shortest.values()]}
    return [*first.values(), *(cell for cell in longest if id(cell) not in first)]


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


def _kind(cell: Cell) -> Kind:
    return cell.learner, cell.mechanism, cell.constants, cell.mdp.shape, cell.replan


def _code(kind: Kind) -> Kind:
    """Return the fields that decide which code a cell runs."""
    return kind[:2]


def cost(cell: Cell) -> float:
    """Return the approximate seconds of a cell on a typical core.

    Most take a time for each plan, whatever its number of users; where users have a table each,
    every one of them is simulated too. The constants are from one run of all figures of the paper.
    """
    shape = cell.mdp.shape
    plans = plans_until(replan_from(cell.replan), cell.episodes)[1][-1]
    if MECHANISMS.find(cell.mechanism).statistics_kind == "effects":
        return cell.runs * (1e-2 * plans + 3e-8 * cell.episodes * shape.horizon)
    size = shape.states**2 * shape.actions * shape.horizon
    each = 1e-5 + 0.1e-6 * size
    if cell.mechanism == "bounded-noise":  # a multinomial over a fine grid, for every counter
        each += 1e-4
    return cell.runs * plans * each
