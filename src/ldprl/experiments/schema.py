"""The keys of an experiment's TOML file, checked once."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from ldprl.catalogue import LEARNERS, Pair, parameters_of
from ldprl.errors import InputError, above, one_of, positive, probability, real
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.mechanisms.none import NoPrivacy
from ldprl.naming import Catalogue
from ldprl.policies.written import MOST_PARAMETERS
from ldprl.shape import LARGEST
from ldprl.simulation.replan import replan_from

_T = TypeVar("_T")
_SAMPLED = ["horizon", "return_range", "hidden"]
"""Keys of environments that are sampled."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A grid: the product of the keys in the plural, with the keys in the singular in each cell.

    Two rules keep combinations out that make no sense. A learner that cannot use noisy sums runs
    without privacy, once for each environment, choice of constants and seed, whatever mechanisms
    are listed. So does a private learner with the mechanism ``none``: it has no ε.

    Parameters
    ----------
    environments
        MDPs, as :func:`ldprl.worlds.mdp_from` reads them, or with ``policies`` what
        :func:`ldprl.learn` takes by name; a file's path starts at the TOML file's folder.
    learners, mechanisms
        Names, as ``ldprl list learners`` and ``ldprl list mechanisms`` list them; each learner
        meets each mechanism.
    pairs
        Further combinations, beside that product: tables with a ``learner`` and a ``mechanism``.
        With ``[[pairs]]`` alone there is no product.
    epsilons
        Needed if a private learner meets a mechanism, and only then.
    constants
        ``"sound"``, ``"paper"`` or both.
    seeds
        Run i of a cell depends on (seed, i), so cells with the same seed are comparable.
    episodes, runs
        Users in a run, and independent runs in a cell; 1e8 is a whole number too.
    replan
        ``"each"`` or ``"growth:G"``.
    delta, failure_probability, alpha
        As :func:`ldprl.catalogue.build` takes them; only where a learner or mechanism uses them.
    structure
        JSON file of what is publicly known of the environments, beside the TOML file, as
        ``ldprl regret --structure`` takes it.
    policies
        Kinds of policies, such as ``"linear"``: environments are sampled then, and rows say what
        the policies are worth. There are no constants, and learners decide themselves when to plan.
    horizon, return_range, hidden
        As :func:`ldprl.learn` takes them; with ``policies`` alone.
    """

    environments: tuple[str, ...]
    learners: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = (NoPrivacy.name,)
    pairs: tuple[Pair, ...] = ()
    epsilons: tuple[float, ...] = ()
    constants: tuple[str, ...] = ("sound",)
    seeds: tuple[int, ...] = (0,)
    episodes: int
    runs: int = 1
    replan: str = "growth:0.01"
    delta: float = 0.0
    failure_probability: float | None = None
    alpha: float | None = None
    structure: str | None = None
    policies: tuple[str, ...] = ()
    horizon: int | None = None
    return_range: tuple[float, float] | None = None
    hidden: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self._check("environments", _each(_text))
        if self.learners or not self.pairs:
            self._check("learners", _each(_class(LEARNERS)))
        if self.pairs:
            self._check("pairs", _each(_pair))
        self._check("mechanisms", _each(_class(MECHANISMS)))
        self._check("constants", _each(_name(("sound", "paper"))))
        self._check("seeds", _each(_count(0, 2**63 - 1)))
        self._check("episodes", _count(1, 10**12))
        self._check("runs", _count(1, 10**6))
        self._check("replan", _text)
        replan_from(self.replan)
        self._check(
            "delta", lambda field, value: probability(field, _number(field, value), zero=True)
        )
        if self.failure_probability is not None:
            self._check(
                "failure_probability",
                lambda field, value: probability(field, _number(field, value), zero=False),
            )
        if self.alpha is not None:
            self._check("alpha", lambda field, value: above(field, _number(field, value), 1))
        if self.structure is not None:
            self._check("structure", _text)
        self._check_sampled()
        private = self._meets_a_mechanism()
        if private or self.epsilons:
            self._check("epsilons", _each(_positive))
        if self.epsilons and not private:
            raise InputError(
                "epsilons", list(self.epsilons), "no such key: no mechanism is private"
            )
        self._check_used()

    def _check_sampled(self) -> None:
        """Check what environments need that are sampled, and refuse it for others."""
        usual = {field.name: field.default for field in fields(self)}
        if self.policies:
            self._check("policies", _each(_text))
            others, expected = ["constants", "replan", "structure"], "no such key with policies"
        else:
            others, expected = _SAMPLED, "no such key without policies"
        for key in others:
            if getattr(self, key) != usual[key]:
                raise InputError(key, getattr(self, key), expected)
        if self.horizon is not None:
            self._check("horizon", _count(1, LARGEST))
        if self.return_range is not None:
            self._check("return_range", _each(_number))
            if len(self.return_range) != 2:
                raise InputError("return_range", self.return_range, "two numbers")
        if self.hidden is not None:
            self._check("hidden", _list(_count(1, MOST_PARAMETERS)))

    def _check(self, field: str, check: Callable[[str, Any], object]) -> None:
        object.__setattr__(self, field, check(field, getattr(self, field)))

    def combinations(self) -> list[Pair]:
        """Return every learner with its mechanism, the product first, each once."""
        product = [
            Pair(learner, mechanism)
            for learner in self.learners
            for mechanism in (self.mechanisms if _private(learner) else (NoPrivacy.name,))
        ]
        return list(dict.fromkeys([*product, *self.pairs]))

    def _check_used(self) -> None:
        """Refuse keys that no combination uses."""
        if not self.learners and self.mechanisms != (NoPrivacy.name,):
            expected = "no such key without learners: each pair has its own mechanism"
            raise InputError("mechanisms", list(self.mechanisms), expected)
        used = set[str]().union(*(parameters_of(*pair) for pair in self.combinations()))
        for key in ("delta", "failure_probability", "alpha"):
            value = getattr(self, key)
            if value and key not in used:
                expected = "no such key: no learner or mechanism uses it"
                raise InputError(key, value, expected)

    def _meets_a_mechanism(self) -> bool:
        """Say whether any cell is private; refuse mechanisms that no learner can use."""
        usable = any(map(_private, self.learners)) or not self.learners
        private = [name for name in self.mechanisms if MECHANISMS.find(name).private]
        if private and not usable:
            names = ", ".join(name for name, kind in LEARNERS.items() if kind.private)
            expected = f"'none', or a learner that can use noisy sums ({names})"
            raise InputError("mechanisms", private, expected)
        return any(MECHANISMS.find(pair.mechanism).private for pair in self.combinations())


def parse(text: str) -> Experiment:
    """Read an experiment from TOML; an unknown key is refused and the nearest one named."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError("TOML", text[:40], f"a TOML document ({error})") from None
    keys = {field.name: field.default is MISSING for field in fields(Experiment)}
    keys["learners"] = "pairs" not in given
    for key in given:
        one_of("key", key, keys)
    for key, needed in keys.items():
        if needed and key not in given:
            raise InputError("keys", sorted(given), f"the key {key!r} too")
    return Experiment(**given)


def _list(check: Callable[[str, Any], _T]) -> Callable[[str, Any], tuple[_T, ...]]:
    """Return a check of a list."""

    def check_all(field: str, values: Any) -> tuple[_T, ...]:
        if not isinstance(values, list | tuple) or not values:
            raise InputError(field, values, "a list of at least one value")
        return tuple(check(f"{field}[{place}]", value) for place, value in enumerate(values))

    return check_all


def _each(check: Callable[[str, Any], _T]) -> Callable[[str, Any], tuple[_T, ...]]:
    """Return a check of a list in which every value occurs once."""

    def check_all(field: str, values: Any) -> tuple[_T, ...]:
        checked = _list(check)(field, values)
        for place, value in enumerate(checked):
            if value in checked[:place]:
                raise InputError(f"{field}[{place}]", values[place], "each value once")
        return checked

    return check_all


def _pair(field: str, value: Any) -> Pair:
    """Check a table with a learner and a mechanism that it can use."""
    if isinstance(value, Pair):
        value = value._asdict()
    if not isinstance(value, dict) or not {"learner"} <= set(value) <= set(Pair._fields):
        raise InputError(field, value, "a learner and a mechanism")
    learner = _class(LEARNERS)(f"{field}.learner", value["learner"])
    mechanism = value.get("mechanism", NoPrivacy.name)
    _class(MECHANISMS)(f"{field}.mechanism", mechanism)
    if MECHANISMS.find(mechanism).private and not _private(learner):
        raise InputError(f"{field}.mechanism", mechanism, f"none: {learner} needs exact sums")
    return Pair(learner, mechanism)


def _private(learner: str) -> bool:
    return LEARNERS.find(learner).private


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(field, value, "a text in quotes")
    return value


def _name(known: Any) -> Callable[[str, Any], str]:
    return lambda field, value: one_of(field, _text(field, value), known)


def _class(known: Catalogue[Any]) -> Callable[[str, Any], str]:
    """Return a check of a name or a ``module:Class``."""

    def check(field: str, value: Any) -> str:
        known.find(_text(field, value), field=field)
        return str(value)

    return check


def _number(field: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(field, value, "a number")
    return real(field, value, "a finite number")


def _positive(field: str, value: Any) -> float:
    return positive(field, _number(field, value))


def _count(least: int, most: int) -> Callable[[str, Any], int]:
    """Return a check of whole numbers; TOML writes 1e8 as a float."""

    def check(field: str, value: Any) -> int:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole or not least <= value <= most:
            raise InputError(field, value, f"a whole number from {least} to {most}")
        return int(value)

    return check
