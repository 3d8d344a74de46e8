"""Figures that lie in one package: each is a module of it, found by its name.

Apart from :mod:`ldprl.figures.figure`, as the command line names the figures without loading them.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldprl.errors import one_of

if TYPE_CHECKING:
    from ldprl.figures.figure import Figure


@dataclass(frozen=True)
class Collection:
    """A package whose modules define ``FIGURE`` each, a :class:`~ldprl.figures.figure.Figure`.

    Attributes
    ----------
    package
        Its name.
    """

    package: str

    def names(self) -> list[str]:
        """Return what commands call the figures, without importing them."""
        folders = importlib.import_module(self.package).__path__
        return [module.name.replace("_", "-") for module in pkgutil.iter_modules(folders)]

    def named(self, name: str) -> Figure:
        """Return the figure that commands call ``name``; an unknown name is refused."""
        one_of("name", name, self.names())
        module = importlib.import_module(f"{self.package}.{name.replace('-', '_')}")
        figure: Figure = module.FIGURE
        return figure

    def chapters(self) -> list[str]:
        """Return the names of the figures of the default report, in its order."""
        order = {name: self.named(name).chapter for name in self.names()}
        return sorted((name for name in order if order[name]), key=lambda name: order[name] or 0)
