"""A learner of one's own beside the scoreboard's."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ldprl.figures.figure import Grid
from ldprl.figures.page import markdown
from studies.suite.cells import ENTRIES, Entry, cells_of, worlds_named
from studies.suite.measures import scores_in
from studies.suite.page import HEADS, row
from studies.suite.results import RESULTS, read, run


def beside(entry: Entry, world: str, epsilon: float | None) -> str:
    """Run a learner in a world of the suite, and return its line below the scoreboard's.

    Parameters
    ----------
    entry
        Who learns: a name, the learner as ``module:Class``, its mechanism with privacy and without,
        and in how many states it plays at most.
    world, epsilon
        As the scoreboard has them; None is no privacy.
    """
    (place,) = worlds_named(world)
    cells = [cell for cell in cells_of(place, entries=[entry]) if cell.epsilon == epsilon]
    lines = read(RESULTS)
    with TemporaryDirectory() as folder:
        mine = Path(folder) / "results.jsonl"
        run(cells, mine, os.cpu_count() or 1)
        lines |= read(mine)
    scores = scores_in(place, lines, entries=[*ENTRIES, entry])
    here = [row(replace(one, stale=False)) for one in scores if one.epsilon == epsilon]
    return markdown([Grid("", HEADS, here, folded=False)])
