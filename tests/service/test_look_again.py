"""A version that another server has just published is looked for before it is refused."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from ldprl.service.intake import Intake


def test_a_reading_that_began_before_the_report_came_is_followed_by_another() -> None:
    """Requests share one reading of the board: the first that ends may have begun too early."""
    views = [SimpleNamespace(current=SimpleNamespace(version=number)) for number in (1, 1, 2)]
    intake: Any = object.__new__(Intake)
    intake._board = SimpleNamespace(view=views[0])
    readings = iter(views[1:])

    async def read() -> None:
        intake._board.view = next(readings)

    intake._fresh = SimpleNamespace(get=read)
    assert asyncio.run(intake._look_again(views[0], 2)) is views[2]
    # Known already: nothing is read, which would raise StopIteration.
    assert asyncio.run(intake._look_again(views[2], 2)) is views[2]
