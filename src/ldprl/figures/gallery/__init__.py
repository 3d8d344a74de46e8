"""One figure, one module: a file here is a figure of ``ldprl reproduce``, found by its name.

A module defines ``FIGURE``, a :class:`~ldprl.figures.figure.Figure`: what has to be simulated, the
table made from it, the pictures of the table and the sentences about it. Nothing else has to know.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from ldprl.errors import one_of

if TYPE_CHECKING:
    from ldprl.figures.figure import Figure


def figure_names() -> list[str]:
    """Return what the command calls the figures, without importing them."""
    return [module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__)]


def figure_named(name: str) -> Figure:
    """Return the figure that the command calls ``name``; an unknown name is refused."""
    one_of("name", name, figure_names())
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    figure: Figure = module.FIGURE
    return figure


def chapters() -> list[str]:
    """Return the names of the figures of the default report, in its order."""
    order = {name: figure_named(name).chapter for name in figure_names()}
    return sorted((name for name in order if order[name]), key=lambda name: order[name] or 0)
