"""Reads the map's table: how many times the users each randomizer needs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ldprl.figures.randomizers.oracles import SUBSETS
from ldprl.figures.randomizers.sweep import SHOWN

Record = dict[str, Any]
Place = tuple[int, int, float]
"""S, H and ε."""
COUNTING = ("Laplace", "Gaussian", "randomized response")
SEVERAL, VALUE, ONE_STATE = "several answers", "bit of the value", "one state asked about"


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
        self.randomizers = list(dict.fromkeys(name for name, _, _ in keys))
        self.places = list(dict.fromkeys(place for _, place, _ in keys))
        self.rows = list(dict.fromkeys(row for _, _, row in keys))

    def at(self, randomizer: str, place: Place, row: str = SHOWN) -> Record:
        """Return the record of a randomizer."""
        return self._known[randomizer, place, row]

    def ratio(self, randomizer: str, place: Place, row: str = SHOWN) -> float:
        """Return how many times the users of subset selection with one question it needs."""
        needed = self.at(randomizer, place, row)["value"]
        return float(needed / self.at(SUBSETS.name, place, row)["value"])
