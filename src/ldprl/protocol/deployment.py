"""A running service's frozen parameters, and the digest that identifies them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from ldprl.arrivals import growth_of
from ldprl.errors import (
    InputError,
    decimal_text,
    one_of,
    positive,
    probability,
    whole_number,
)
from ldprl.mechanisms.by_name import MECHANISMS, build_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.problem import Problem, problem_from
from ldprl.protocol.certificate import Certified
from ldprl.protocol.duration import USUAL_WINDOW, Duration
from ldprl.protocol.labels import Labels
from ldprl.protocol.mixing import Shuffled
from ldprl.protocol.sizes import LARGEST_COUNT
from ldprl.shape import Shape, tabular
from ldprl.structure import Structure

FORMAT = 2
"""Version of all that goes over the wire. In 1 the service drew the number of a user's table."""
_MOST_GROWTH = 1_000_000
"""Largest G of ``growth:G`` that is accepted."""
_TEXT_FIELDS = ("name", "mechanism", "epsilon", "delta", "learner", "failure_probability", "epochs")
_COUNT_FIELDS = ("first_epoch", "report_window_hours")
_SIZES = ("states", "actions", "horizon")
_OTHERS = ("step_dependent", "policy", "labels", "shuffle", "certificate", "structure")


@dataclass(frozen=True)
class Deployment:
    """All that a client must know before it trusts a service, and nothing that may change later.

    Attributes
    ----------
    name
        What operators call it; a database holds one deployment, and never changes it.
    problem
        What users see and do: the sizes of tables, or what ``[policy]`` states.
    mechanism, epsilon, delta, options
        How users randomize. ε and δ are decimal strings, so that all languages read the same
        number; ``options`` are the mechanism's own, such as subset selection's ``layout``.
    learner, failure_probability
        Who plans, and with what confidence. Users need not know the learner: the service that
        plans with it checks that it can. Learner and mechanism are the recommended ones for these
        sizes and this ε, unless they are given.
    epochs, first_epoch
        When to plan again: after ``each`` report, ``every:N`` reports, or when they have grown by
        the factor 1 + G (``growth:G``), and never before ``first_epoch`` new ones.
    report_window_hours
        How long a policy that was replaced may still be reported under. 0 stands for a week, and
        where ``step_hours`` says how long an episode is, for that too; twice behind a relay.
    step_hours
        How long a step takes, as a decimal string; None if that is not stated.
    memory_users
        The number of latest users from whom plans are made; None: all.
    labels
        What states, actions and rewards mean.
    shuffle
        The privacy of reports that a relay mixes; None if they come to the service directly.
    certificate
        Who answers for certificates; None without any.
    structure
        What is publicly known of the problem; None if nothing is.
    """

    name: str
    problem: Problem
    epsilon: str
    mechanism: str = ""
    delta: str = "0"
    learner: str = ""
    failure_probability: str = "0.1"
    epochs: str = "growth:0.1"
    first_epoch: int = 100
    report_window_hours: int = 0
    step_hours: str | None = None
    memory_users: int | None = None
    labels: Labels = field(default_factory=Labels)
    shuffle: Shuffled | None = None
    certificate: Certified | None = None
    structure: Structure | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta", "failure_probability"):
            object.__setattr__(self, name, decimal_text(name, getattr(self, name)))
        epsilon = positive("epsilon", float(self.epsilon))
        pair = self.problem.recommended(epsilon, self.learner, self.mechanism)
        for name, chosen in zip(("learner", "mechanism"), pair, strict=True):
            object.__setattr__(self, name, chosen)
        for name in ("name", "learner"):
            text = getattr(self, name)
            if not text or len(text) > 100 or not text.isprintable():
                raise InputError(name, text, "1 to 100 printable characters")
        counters = deployable(self.mechanism).reports_counters
        self.problem.check_sizes(reports_counters=counters)
        probability("delta", float(self.delta), zero=True)
        probability("failure_probability", float(self.failure_probability), zero=False)
        if (duration := self.duration) is not None:
            object.__setattr__(self, "step_hours", duration.step_hours)
        if self.report_window_hours == 0:
            window = USUAL_WINDOW
            if duration is not None:
                window = duration.usual_window(relayed=self.shuffle is not None)
            object.__setattr__(self, "report_window_hours", window)
        for name in _COUNT_FIELDS + (("memory_users",) if self.memory_users is not None else ()):
            whole_number(name, getattr(self, name), 1, LARGEST_COUNT)
        if duration is not None:
            duration.check_window(self.report_window_hours)
        epoch_length(self.epochs, 0)
        self.labels.check(self.problem)
        options = {key: getattr(self.built, key) for key in self.built.options}
        object.__setattr__(self, "options", options)
        if self.certificate is not None:
            self.certificate.check(self.built, has_incumbent=self.incumbent is not None)
        if self.structure is not None and self.structure.shape != self.problem:
            raise InputError("structure.shape", self.structure.shape, f"{self.problem}")
        if self.shuffle is not None:
            self.shuffle.check(self.built)

    @property
    def shape(self) -> Shape:
        """The sizes of the problem, where policies are tables."""
        return tabular(self.problem)

    @cached_property
    def built(self) -> Mechanism:
        """The mechanism that users randomize with."""
        epsilon, delta = float(self.epsilon), float(self.delta)
        built = build_mechanism(self.mechanism, self.problem, epsilon, delta, **self.options)
        return built if self.certificate is None else built.with_worth()

    @property
    def incumbent(self) -> Any:
        """The policy that users had before, if it is stated."""
        known = None if self.structure is None else self.structure.incumbent
        return self.problem.incumbent if known is None else known

    @property
    def duration(self) -> Duration | None:
        """How long an episode takes, if that is stated."""
        return None if self.step_hours is None else Duration(self.problem.horizon, self.step_hours)

    def next_plan_at(self, users: int) -> int:
        """Return the number of users at which a plan made after ``users`` is replaced."""
        # A crowd comes at once; what is refused of it must not make a version wait for another.
        crowd = 0 if self.shuffle is None else math.ceil(self.shuffle.crowd / 2)
        kept = users if self.memory_users is None else min(users, self.memory_users)
        return users + max(self.first_epoch, epoch_length(self.epochs, kept), crowd)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The deployment as JSON: no floats, so that every language writes the same bytes."""
        fields: dict[str, Any] = {key: getattr(self, key) for key in _TEXT_FIELDS + _COUNT_FIELDS}
        for name in ("memory_users", "step_hours"):
            if (value := getattr(self, name)) is not None:
                fields[name] = value
        for name in ("shuffle", "certificate", "structure"):
            if (part := getattr(self, name)) is not None:
                fields[name] = part.document()
        return fields | {
            **self.problem.stated(),
            "format": FORMAT,
            "randomizer": self.built.randomizer(),
            "labels": self.labels.document(self.problem),
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the document in canonical JSON, in hex."""
        return digest_of(self.document)

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> Deployment:
        """Read what a person wrote: sizes at the top level or ``[policy]``, ε as number or text."""
        texts = (*_TEXT_FIELDS, "step_hours")
        given = {key: _text(key, table[key]) for key in texts if key in table}
        named = given.get("mechanism", "")
        own = {key for kind in MECHANISMS.values() for key in kind.options}
        own |= set(deployable(named).options) if named else set()
        known = sorted({*_SIZES, *texts, *_COUNT_FIELDS, "memory_users", *_OTHERS, *own})
        for key in table:
            one_of("deployment key", key, known)
        for key in ("name", "epsilon"):
            if key not in table:
                raise InputError(key, None, _NEEDED)
        problem = _problem(table)
        epsilon = positive("epsilon", float(decimal_text("epsilon", given["epsilon"])))
        named = problem.recommended(epsilon, given.get("learner", ""), named)[1]
        options = deployable(named).options
        for key in table:
            if key in own and key not in options:
                raise InputError(key, table[key], f"no {key} with {named}")
        chosen = {key: table[key] for key in options if key in table}
        counted = (*_COUNT_FIELDS, "memory_users")
        counts = {key: whole_number(key, table[key], 1) for key in counted if key in table}
        labels = Labels.from_table(table.get("labels", {}))
        more: dict[str, Any] = {}
        if "shuffle" in table:
            more["shuffle"] = Shuffled.from_table(table["shuffle"])
        if "certificate" in table:
            more["certificate"] = Certified.from_table(table["certificate"])
        if "structure" in table:
            problem.check_sizes(reports_counters=deployable(named).reports_counters)
            more["structure"] = Structure.from_document(table["structure"], tabular(problem))
        read = cast(Any, given | counts | more)
        return cls(problem=problem, labels=labels, options=chosen, **read)

    @classmethod
    def from_document(cls, document: object) -> Deployment:
        """Read what a service sent, and refuse it if its randomizer is not what ε asks for."""
        if not isinstance(document, dict):
            raise InputError("deployment", document, "an object")
        if document.get("format") != FORMAT:
            expected = f"{FORMAT}, the only one that this version of ldprl speaks"
            raise InputError("deployment.format", document.get("format"), expected)
        sizes = document.get("shape", {})
        drawn = document.get("randomizer")
        if not isinstance(sizes, dict) or not isinstance(drawn, dict):
            raise InputError("deployment", document, "a document with a shape and a randomizer")
        table = {key: value for key, value in document.items() if key not in _DERIVED} | sizes
        # No module is loaded because a service names it.
        kind = deployable(_text("mechanism", document.get("mechanism")), load=False)
        table |= {key: drawn[key] for key in kind.options if key in drawn}
        _problem(table, load=False).check_sizes(reports_counters=kind.reports_counters)
        deployment = cls.from_toml(table)
        if deployment.document != document:
            raise InputError("deployment.randomizer", drawn, f"{deployment.built.randomizer()}")
        return deployment


_DERIVED = ("format", "shape", "randomizer")
_NEEDED = "a value: every deployment needs one"


def _problem(table: Mapping[str, Any], *, load: bool = True) -> Problem:
    """Read the table ``[policy]``, or the sizes of tables in its place."""
    for size in _SIZES:
        if "policy" in table and size in table:
            raise InputError(size, table[size], f"no {size} beside [policy], which states it all")
        if "policy" not in table and size not in table:
            raise InputError(size, None, _NEEDED)
    if "policy" in table:
        return problem_from(table["policy"], load=load)
    return Shape.from_document(table)


def deployable(mechanism: str, *, load: bool = True) -> type[Mechanism]:
    """Return the class of a mechanism that a deployment may name, or refuse it."""
    kind = MECHANISMS.find(mechanism, load=load)
    if not kind.deployable:
        able = ", ".join(name for name, one in MECHANISMS.items() if one.deployable)
        raise InputError("mechanism", mechanism, f"one that a client can draw exactly: {able}")
    return kind


def digest_of(document: object) -> str:
    """Return the SHA-256, in hex, of ``document`` in canonical JSON: sorted keys, no spaces."""
    try:
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
    except (ValueError, TypeError, RecursionError):
        # Half a surrogate pair, or nested too deeply.
        raise InputError("deployment", type(document).__name__, "a document of text") from None


def epoch_length(epochs: str, users: int) -> int:
    """Return how many reports the rule ``epochs`` waits for after ``users``."""
    growth = growth_of(str(epochs))
    if growth is not None and growth.is_finite() and 0 < growth <= _MOST_GROWTH:
        # In decimals, so that every machine plans at the same count.
        return math.ceil(growth * users)
    kind, _, value = str(epochs).partition(":")
    # Python refuses to read thousands of digits.
    few = value.isdecimal() and len(value) <= len(str(LARGEST_COUNT))
    if kind == "every" and few and 1 <= int(value) <= LARGEST_COUNT:
        return int(value)
    if epochs == "each":
        return 1
    expected = f"'each', 'every:N' or 'growth:G' with N ≥ 1 and 0 < G ≤ {_MOST_GROWTH}"
    raise InputError("epochs", epochs, expected)


def _text(key: str, value: object) -> str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    raise InputError(key, value, "text or a number")
