"""What a user sees: a vector of numbers with names, units and a public scaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldprl.errors import InputError
from ldprl.policies.written import MOST_PARAMETERS, decimal, names, printable, table
from ldprl.shape import FloatArray, IntArray

_KEYS = ("name", "unit", "centre", "scale", "categories")


@dataclass(frozen=True)
class Feature:
    """One entry of what a user sees: a number x, which enters as (x − centre)/scale, or a category.

    Parameters
    ----------
    name, unit
        For people.
    centre, scale
        Public: what is usual, and how much it usually differs. Kept as decimal text.
    categories
        Names; the entry is then the number of a category, and enters as one input for each.
    """

    name: str
    unit: str = ""
    centre: str | float = "0"
    scale: str | float = "1"
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keep = object.__setattr__
        keep(self, "name", printable("feature.name", self.name))
        keep(self, "unit", printable("feature.unit", self.unit, empty=True))
        keep(self, "centre", decimal("feature.centre", self.centre))
        keep(self, "scale", decimal("feature.scale", self.scale, positive=True))
        if not isinstance(self.categories, tuple) or self.categories:
            keep(self, "categories", names("feature.categories", self.categories))
            if (self.centre, self.scale, self.unit) != ("0", "1", ""):
                expected = "neither unit nor centre nor scale beside categories"
                raise InputError("feature", self.name, expected)

    @property
    def inputs(self) -> int:
        """How many inputs of a policy it is."""
        return len(self.categories) or 1

    def number(self, value: object) -> float:
        """Return an entry as a number, a category's name as well; what is none is NaN."""
        if isinstance(value, str):
            return float(self.categories.index(value)) if value in self.categories else np.nan
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return np.nan

    def in_words(self, value: float) -> str:
        """Return its name with a value and its unit, or with the category of this number."""
        if self.categories:
            return f"{self.name} = {self.categories[int(value)]}"
        return f"{self.name} = {value:.4g} {self.unit}".strip()

    def document(self) -> dict[str, Any]:
        """Return the feature as JSON."""
        if self.categories:
            return {"name": self.name, "categories": list(self.categories)}
        unit = {"unit": self.unit} if self.unit else {}
        return {"name": self.name, **unit, "centre": self.centre, "scale": self.scale}

    @classmethod
    def from_document(cls, document: object) -> Feature:
        """Read what :meth:`document` wrote, or a person; a name alone will do."""
        if isinstance(document, Feature):
            return document
        if isinstance(document, str):
            return cls(document)
        given = dict(table("feature", document, _KEYS))
        if "name" not in given:
            raise InputError("feature.name", None, "a name")
        if "categories" in given:
            given["categories"] = names("feature.categories", given["categories"])
        return cls(**given)


@dataclass(frozen=True)
class Features:
    """All entries of what a user sees, in order.

    Whoever sees something always gets inputs: an entry that is no finite number, or no known
    category, enters as zeros. Only another length is refused, as the mistake of a program.
    """

    each: tuple[Feature, ...]

    def __post_init__(self) -> None:
        names("features", [one.name for one in self.each])
        if self.size > MOST_PARAMETERS:
            raise InputError("features", self.size, f"at most {MOST_PARAMETERS} inputs")

    @classmethod
    def of(cls, document: object) -> Features:
        """Read what :meth:`document` wrote, or a person."""
        many = document if isinstance(document, Sequence) and not isinstance(document, str) else ()
        if not 1 <= len(many) <= MOST_PARAMETERS:
            raise InputError("features", document, f"a list of 1 to {MOST_PARAMETERS} features")
        return cls(tuple(Feature.from_document(one) for one in many))

    @property
    def raw(self) -> int:
        """How many entries an observation has."""
        return len(self.each)

    @cached_property
    def size(self) -> int:
        """How many inputs a policy gets: one for a number, one for each category."""
        return sum(one.inputs for one in self.each)

    @property
    def inputs_named(self) -> tuple[str, ...]:
        """Return a name for each input."""
        return tuple(
            f"{one.name}: {category}" if category else one.name
            for one in self.each
            for category in (one.categories or ("",))
        )

    @cached_property
    def centre(self) -> FloatArray:
        """The centres, of shape (raw,)."""
        return np.array([float(one.centre) for one in self.each])

    @cached_property
    def scale(self) -> FloatArray:
        """The scales, of shape (raw,)."""
        return np.array([float(one.scale) for one in self.each])

    @cached_property
    def categories(self) -> IntArray:
        """How many categories each entry has, of shape (raw,); 0 for a number."""
        return np.array([len(one.categories) for one in self.each], dtype=np.int64)

    def observed(self, observation: object) -> FloatArray:
        """Return an observation as numbers, NaN for what is none, or refuse its length."""
        entries = entries_of(observation)
        if len(entries) != self.raw:
            expected = f"{self.raw} entries: {', '.join(one.name for one in self.each[:10])}"
            raise InputError("observation", f"{len(entries)} entries", expected)
        pairs = zip(self.each, entries, strict=True)
        return np.array([feature.number(value) for feature, value in pairs])

    def inputs(self, observation: object) -> FloatArray:
        """Return the inputs of a policy, of shape (size,)."""
        one: FloatArray = self.inputs_many(self.observed(observation)[None])[0]
        return one

    def inputs_many(self, observations: FloatArray) -> FloatArray:
        """Return the inputs of a policy for many observations, of shape (n, size)."""
        with np.errstate(all="ignore"):
            scaled: FloatArray = (observations - self.centre) / self.scale
        scaled[~np.isfinite(scaled)] = 0.0
        if self.size == self.raw and not self.categories.any():
            return scaled
        result = np.empty((len(scaled), self.size))
        place = 0
        for i, feature in enumerate(self.each):
            if not feature.categories:
                result[:, place] = scaled[:, i]
            for category in range(len(feature.categories)):
                result[:, place + category] = observations[:, i] == category
            place += feature.inputs
        return result

    def document(self) -> list[dict[str, Any]]:
        """Return the features as JSON."""
        return [one.document() for one in self.each]


def entries_of(value: object) -> Sequence[Any]:
    """Return the entries of a vector; what is none is its only entry."""
    if isinstance(value, np.ndarray):
        entries: list[Any] = np.atleast_1d(value).tolist()
        return entries
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
