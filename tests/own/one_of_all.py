"""A mechanism: k-ary randomized response, one item that is the own one more often than others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldprl.accounting.loss import LossPair
from ldprl.mechanisms.asking import AskingMechanism
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.sampling import RandomSource
from ldprl.shape import Array, FloatArray, IntArray, Shape
from tests.own.place import Place


@dataclass(frozen=True)
class OneItem:
    """Reports the own item with probability T/2⁶⁴, else one of the others."""

    items: int
    threshold: int
    size: int = 1

    @property
    def keep(self) -> float:
        return self.threshold / 2**64

    @property
    def other(self) -> float:
        return (1 - self.keep) / (self.items - 1)

    @property
    def contrast(self) -> float:
        return self.keep - self.other

    def draw_many(self, item: int, count: int, source: RandomSource) -> IntArray:
        own = source.words(count) < np.uint64(self.threshold)
        others = source.below_many(self.items - 1, count)
        reported = np.where(own, item, others + (others >= item))
        return np.eye(self.items, dtype=np.int64)[reported]

    def decode(self, tally: Array, users: int | Array) -> FloatArray:
        result: FloatArray = (tally - users * self.other) / self.contrast
        return result

    def sample_tally(self, held: IntArray, rng: np.random.Generator) -> IntArray:
        law = np.full((self.items, self.items), self.other)
        np.fill_diagonal(law, self.keep)
        tally: IntArray = rng.multinomial(held, law).sum(axis=0)
        return tally

    def loss_pair(self) -> LossPair:
        rest = max(1 - self.keep - self.other, 0.0)
        first = np.array([self.keep, self.other, rest])
        return LossPair(first, first[[1, 0, 2]])

    def log_likelihood(self, reports: Array, item: int) -> FloatArray:
        return np.where(reports[:, item] == 1, math.log(self.keep), math.log(self.other))

    def document(self) -> dict[str, Any]:
        return {"items": self.items, "size": 1, "threshold": str(self.threshold)}


class OneOfAll(AskingMechanism[OneItem]):
    """One item, the own one more often than others."""

    title = "k-ary randomized response"
    colour = "#aa3377"
    deployable = True
    options = ("places",)

    def __init__(self, shape: Shape, epsilon: float, *, places: bool = True) -> None:
        self.shape, self.epsilon, self.places = shape, epsilon, places

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0)

    @property
    def observables(self) -> tuple[Observable, ...]:
        return (Reward(), Transition(), Place()) if self.places else (Reward(), Transition())

    def oracle_for(self, items: int) -> OneItem:
        odds = math.exp(self.epsilon * (1 - 1e-12))
        return OneItem(items, math.floor(odds / (odds + items - 1) * 2**64))

    @property
    def error_laws(self) -> ErrorLaws:
        oracle = self.oracle_for(self.shape.states**2 + 1)
        law = ErrorLaw(8 * self.shape.cells, 2 * math.sqrt(self.shape.states) / oracle.contrast)
        return ErrorLaws(law, law, law, law)
