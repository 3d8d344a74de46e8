"""The remaining time is right once every kind of curve has been seen, on made-up machines."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import pytest

from ldprl.experiments.cells import Cell
from ldprl.figures import progress
from ldprl.figures.gallery import GALLERY
from ldprl.figures.progress import Work, cost, duration, ordered
from ldprl.figures.settings import Settings
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.simulation.engine import Simulation

CELLS = [
    cell
    for figure in map(GALLERY.named, GALLERY.chapters())
    if figure.cells is not None
    for cell in figure.cells(Settings())
]
"""What `make demo` simulates."""


def kind(cell: Cell) -> tuple[object, ...]:
    return cell.learner, cell.mechanism, cell.constants, cell.mdp.shape, cell.replan


class Machine:
    """A machine whose processes take the next cell when they are free, with its own clock.

    Each kind of cell takes ``slow`` to ``slow``·50 times what is predicted, and the first of each
    pair of learner and mechanism takes ``compiling`` seconds more.
    """

    def __init__(
        self, cells: Sequence[Cell], processes: int, slow: float, compiling: float
    ) -> None:
        rng = np.random.default_rng(7)
        kinds = dict.fromkeys(map(kind, cells))
        self.factors = {one: slow * 50 ** rng.random() for one in kinds}
        self.processes, self.compiling = processes, compiling

    def run(self, cells: Sequence[Cell]) -> list[tuple[float, float, int]]:
        """Return, after each cell: the time, the estimate of the time left, and kinds not seen."""
        left: list[float] = []
        now, order, seen = 0.0, ordered(cells), set()
        running: list[tuple[float, int, float, float, Cell]] = []
        work = Work(
            lambda *update: left.append(update[2]), order, 0, self.processes, clock=lambda: now
        )
        waiting = iter(order)
        compiled: set[tuple[object, ...]] = set()

        def start(cell: Cell, number: int) -> None:
            first = 0.0 if kind(cell)[:2] in compiled else self.compiling
            compiled.add(kind(cell)[:2])
            seconds = self.factors[kind(cell)] * cost(cell)
            heapq.heappush(running, (now + first + seconds, number, first, seconds, cell))

        for number, cell in zip(range(self.processes), waiting, strict=False):
            start(cell, number)
        found = []
        while running:
            now, number, first, seconds, cell = heapq.heappop(running)
            for following in waiting:
                start(following, number)
                break
            work.simulated(cell, finished(seconds, first))
            seen.add(kind(cell))
            found.append((now, left[-1], len(self.factors) - len(seen)))
        return found


def finished(seconds: float, compiling: float) -> Simulation:
    return Simulation(
        checkpoints=np.zeros(1, dtype=np.int64),
        curves=np.zeros((1, 1)),
        guarantee=Guarantee(1.0, 0.0),
        seconds=seconds,
        compile_seconds=compiling,
    )


def worst_error(machine: Machine) -> float:
    """Return the largest error of an estimate, as a share of the truth and of a tenth of it all.

    From when every kind has been seen; the last tenth is measured against a tenth of the whole.
    """
    estimates = machine.run(CELLS)
    end = estimates[-1][0]
    return max(
        abs(left - (end - now)) / max(end - now, 0.1 * end)
        for now, left, unseen in estimates
        if not unseen
    )


@pytest.mark.parametrize("processes", [1, 2, 5])
@pytest.mark.parametrize(("slow", "compiling"), [(0.2, 0.0), (1.0, 8.0), (3.0, 8.0)])
def test_the_remaining_time_can_be_believed(processes: int, slow: float, compiling: float) -> None:
    assert worst_error(Machine(CELLS, processes, slow, compiling)) < 0.2


def test_one_speed_for_all_kinds_would_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that does not distinguish kinds is far off."""
    monkeypatch.setattr(progress, "_PRIOR", 1e9)
    assert worst_error(Machine(CELLS, 2, 1.0, 8.0)) > 0.3


def test_the_cost_is_said_first() -> None:
    reported: list[tuple[str, float, float]] = []
    Work(lambda *one: reported.append(one), CELLS, 2, 2)
    ((what, share, left),) = reported
    assert what.startswith(f"{len(CELLS)} curves to simulate, 2 figures to draw: about ")
    assert what.endswith(" on 2 processes")
    assert duration(left) in what
    assert share == 0


def test_a_short_cell_of_each_kind_comes_first_and_none_is_lost() -> None:
    order = ordered(CELLS)
    kinds = {kind(cell) for cell in CELLS}
    assert {kind(cell) for cell in order[: len(kinds)]} == kinds
    pairs = {kind(cell)[:2] for cell in CELLS}
    assert {kind(cell)[:2] for cell in order[: len(pairs)]} == pairs
    assert sorted(map(id, order)) == sorted(map(id, CELLS))


def test_times_are_written_as_people_say_them() -> None:
    written = [duration(seconds) for seconds in (0.4, 59.6, 130.0, 7200.0)]
    assert written == ["0 s", "60 s", "2 minutes", "2.0 hours"]
