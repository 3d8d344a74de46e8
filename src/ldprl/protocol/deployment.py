"""A running service's frozen parameters, and the digest by which a client knows them again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Literal, cast

from ldprl.errors import InputError, one_of, positive, probability, whole_number
from ldprl.mechanisms.catalogue import build_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.subset_selection import LayoutName, SubsetSelection
from ldprl.protocol.labels import Labels
from ldprl.protocol.randomizer import randomizer
from ldprl.protocol.shuffle import Shuffled
from ldprl.protocol.sizes import CLIENT_BOUNDS, LARGEST_COUNT, SERVICE_BOUNDS, check_sizes
from ldprl.shape import Shape

MECHANISMS = ("subset-selection", "laplace", "gaussian", "randomized-response", "bounded-noise")
"""What a deployment can name: private by sound constants, and drawn exactly by a client."""
LEARNERS = ("ldp-evi", "ldp-ts", "ldp-obi", "private-ucb-vi", "dp-ucbvi")
"""Who can learn in a service: from private sums, without knowing the number of users in advance."""
FORMAT = 1
_MOST_GROWTH = 1_000_000
_TEXT_FIELDS = ("name", "mechanism", "epsilon", "delta", "learner", "failure_probability", "epochs")
_COUNT_FIELDS = ("first_epoch", "report_window_hours")
_ASKING_FIELDS = ("layout", "answers")
_SIZES = ("states", "actions", "horizon")


@dataclass(frozen=True)
class Deployment:
    """All that a client must know before it trusts a service, and nothing that may change later.

    Attributes
    ----------
    name
        What operators call it; a database holds one deployment, and never changes it.
    shape
        Sizes of the problem.
    mechanism, epsilon, delta, layout, answers
        How users randomize. ε and δ are decimal strings, so that all languages read the same
        number; ``layout`` and ``answers`` are subset selection's.
    learner, failure_probability
        Who plans, and with what confidence.
    epochs, first_epoch
        When to plan again: after ``each`` report, ``every:N`` reports, or when they have grown by
        the factor 1 + G (``growth:G``), and never before ``first_epoch`` new ones.
    report_window_hours
        How long a policy that was replaced may still be reported under.
    labels
        What states, actions and rewards mean.
    shuffle
        What reports have that a relay mixes; None where they come to the service directly.
    """

    name: str
    shape: Shape
    epsilon: str
    mechanism: str = "subset-selection"
    delta: str = "0"
    layout: LayoutName | Literal["auto"] = "auto"
    answers: int | Literal["auto"] = "auto"
    learner: str = "ldp-evi"
    failure_probability: str = "0.1"
    epochs: str = "growth:0.1"
    first_epoch: int = 100
    report_window_hours: int = 168
    labels: Labels = field(default_factory=Labels)
    shuffle: Shuffled | None = None

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 100 or not self.name.isprintable():
            raise InputError("name", self.name, "1 to 100 printable characters")
        one_of("mechanism", self.mechanism, MECHANISMS)
        one_of("learner", self.learner, LEARNERS)
        check_sizes(self.shape, SERVICE_BOUNDS, counting=True)
        for name in ("epsilon", "delta", "failure_probability"):
            object.__setattr__(self, name, decimal_text(name, getattr(self, name)))
        positive("epsilon", float(self.epsilon))
        probability("delta", float(self.delta), zero=True)
        probability("failure_probability", float(self.failure_probability), zero=False)
        for name in _COUNT_FIELDS:
            if whole_number(name, getattr(self, name), 1) > LARGEST_COUNT:
                raise InputError(name, getattr(self, name), f"at most {LARGEST_COUNT}")
        epoch_length(self.epochs, 0)
        self.labels.check(self.shape)
        for name in _ASKING_FIELDS:
            given = getattr(self, name)
            if self.mechanism != SubsetSelection.name and given != "auto":
                raise InputError(name, given, f"no {name} with {self.mechanism}")
            if isinstance(self.built, SubsetSelection):
                object.__setattr__(self, name, getattr(self.built, name))
        if self.shuffle is not None:
            self.shuffle.check(self.built)

    @cached_property
    def built(self) -> Mechanism:
        """The mechanism that users randomize with."""
        if self.mechanism == SubsetSelection.name:
            return SubsetSelection(
                self.shape, float(self.epsilon), layout=self.layout, answers=self.answers
            )
        return build_mechanism(self.mechanism, self.shape, float(self.epsilon), float(self.delta))

    def next_plan_at(self, users: int) -> int:
        """Return the number of users at which a plan made after ``users`` is replaced."""
        # A crowd comes at once; what is refused of it must not make a version wait for another.
        crowd = 0 if self.shuffle is None else math.ceil(self.shuffle.crowd / 2)
        return users + max(self.first_epoch, epoch_length(self.epochs, users), crowd)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The deployment as JSON: no floats, so that every language writes the same bytes."""
        shape = self.shape
        fields: dict[str, Any] = {key: getattr(self, key) for key in _TEXT_FIELDS + _COUNT_FIELDS}
        shuffled = {} if self.shuffle is None else {"shuffle": self.shuffle.document()}
        return (
            fields
            | shuffled
            | {
                "format": FORMAT,
                "shape": {size: getattr(shape, size) for size in _SIZES}
                | {"step_dependent": shape.step_dependent},
                "randomizer": randomizer(self.built),
                "labels": self.labels.document(shape),
            }
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the document in canonical JSON, in hex."""
        return digest_of(self.document)

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> Deployment:
        """Read what a person wrote: sizes at the top level, ε as a number or a string."""
        known = {*_SIZES, *_TEXT_FIELDS, *_COUNT_FIELDS, *_ASKING_FIELDS}
        known |= {"step_dependent", "labels", "shuffle"}
        for key in table:
            one_of("deployment key", key, sorted(known))
        for key in ("name", "epsilon", *_SIZES):
            if key not in table:
                raise InputError(key, None, "a value: every deployment needs one")
        each_step = _boolean("step_dependent", table.get("step_dependent", False))
        shape = Shape(table["states"], table["actions"], table["horizon"], each_step)
        given = {key: _text(key, table[key]) for key in _TEXT_FIELDS if key in table}
        asking = {key: table[key] for key in _ASKING_FIELDS if key in table}
        counts = {key: whole_number(key, table[key], 1) for key in _COUNT_FIELDS if key in table}
        labels = Labels.from_table(table.get("labels", {}))
        shuffle = Shuffled.from_table(table["shuffle"]) if "shuffle" in table else None
        return cls(
            shape=shape, labels=labels, shuffle=shuffle, **cast(Any, given | counts | asking)
        )

    @classmethod
    def from_document(cls, document: object) -> Deployment:
        """Read what a service sent, and refuse it if its randomizer is not what ε asks for."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError("deployment", document, f"a document of format {FORMAT}")
        sizes = document.get("shape")
        table = {key: value for key, value in document.items() if key not in _DERIVED}
        drawn = document.get("randomizer")
        if not isinstance(sizes, dict) or not isinstance(drawn, dict):
            raise InputError("deployment", document, "a document with a shape and a randomizer")
        table |= {key: drawn[key] for key in _ASKING_FIELDS if key in drawn}
        each_step = _boolean("shape.step_dependent", sizes.get("step_dependent"))
        states, actions, horizon = (cast(int, sizes.get(size)) for size in _SIZES)
        shape = Shape(states, actions, horizon, each_step)
        counting = document.get("mechanism") != SubsetSelection.name
        check_sizes(shape, CLIENT_BOUNDS, counting=counting)
        deployment = cls.from_toml(table | sizes)
        if deployment.document != document:
            raise InputError("deployment.randomizer", drawn, f"{randomizer(deployment.built)}")
        return deployment


_DERIVED = ("format", "shape", "randomizer")


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
    if epochs == "each":
        return 1
    kind, _, value = str(epochs).partition(":")
    try:
        if kind == "every" and 1 <= int(value) <= LARGEST_COUNT:
            return int(value)
        if kind == "growth" and 0 < Decimal(value) <= _MOST_GROWTH:
            # In decimals, so that every machine plans at the same count.
            return math.ceil(Decimal(value) * users)
    except (ValueError, InvalidOperation):
        pass
    expected = f"'each', 'every:N' or 'growth:G' with N ≥ 1 and 0 < G ≤ {_MOST_GROWTH}"
    raise InputError("epochs", epochs, expected)


def decimal_text(field: str, value: object) -> str:
    """Return a number as the shortest decimal string that reads back as the same float."""
    try:
        number = float(cast(str, value))
        return format(Decimal(repr(number)).normalize(), "f")
    except (TypeError, ValueError, InvalidOperation):
        raise InputError(field, value, "a decimal number") from None


def _text(key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    raise InputError(key, value, "text or a number")


def _boolean(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(key, value, "true or false")
    return value
