"""Clients that are not as private as they claim, each by one mistake that somebody could make."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ldprl import BoundedNoise, Gaussian, Laplace, RandomizedResponse, Shape, Shuffle, Trajectory
from ldprl.assignment import Assignment
from ldprl.layout import Layout
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.bounded_noise import _least_radius, _sound_tables
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import (
    InsecureSource,
    RandomSource,
    discrete_laplace,
    flip_threshold,
    generator_of,
)
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import Array

SHAPE = Shape(2, 2, 2)
EPSILON, DELTA = 2.0, 0.01


def with_bit_epsilon(mechanism: BitMechanism, bit_epsilon: Fraction) -> BitMechanism:
    mechanism.threshold = flip_threshold(bit_epsilon)
    mechanism.flip = mechanism.threshold / 2**64
    return mechanism


def half_laplace() -> CountingMechanism:
    mechanism = Laplace(SHAPE, EPSILON)
    mechanism.scale /= 2
    return mechanism


def half_gaussian() -> CountingMechanism:
    mechanism = Gaussian(SHAPE, EPSILON, DELTA)
    mechanism.variance /= 4
    return mechanism


def half_bounded_noise() -> CountingMechanism:
    mechanism = BoundedNoise(SHAPE, EPSILON, DELTA)
    mechanism.tables = _sound_tables(
        mechanism.layout, _least_radius(mechanism.layout, EPSILON, DELTA) / 2
    )
    return mechanism


def half_randomized_response() -> CountingMechanism:
    return with_bit_epsilon(RandomizedResponse(SHAPE, EPSILON), 2 * Fraction(EPSILON) / 10)


def half_shuffle() -> CountingMechanism:
    mechanism = Shuffle(SHAPE, EPSILON, reward_bits=3)
    return with_bit_epsilon(mechanism, 2 * Fraction(EPSILON) / 18)


def half_subset_selection() -> Mechanism:
    """As sharp as subset selection at twice the ε."""
    mechanism = SubsetSelection(SHAPE, EPSILON)
    mechanism._exact *= 2
    return mechanism


# The wrong sensitivity: that of one block, as if users did not report three.


def one_block_laplace() -> CountingMechanism:
    mechanism = Laplace(SHAPE, EPSILON)
    mechanism.scale = Fraction(2 * SHAPE.horizon) / Fraction(EPSILON)
    return mechanism


def one_block_gaussian() -> CountingMechanism:
    mechanism = Gaussian(SHAPE, EPSILON, DELTA)
    mechanism.variance *= Fraction(2 * SHAPE.horizon**2, 18)
    return mechanism


def one_counter_bounded_noise() -> CountingMechanism:
    """Calibrated for users who differ in the counters of a single step."""
    mechanism = BoundedNoise(SHAPE, EPSILON, DELTA)
    radius = _least_radius(Layout(Shape(2, 2, 1)), EPSILON, DELTA)
    mechanism.tables = _sound_tables(mechanism.layout, radius)
    return mechanism


def one_block_randomized_response() -> CountingMechanism:
    mechanism = RandomizedResponse(SHAPE, EPSILON)
    return with_bit_epsilon(mechanism, Fraction(EPSILON) / (2 * SHAPE.horizon))


def one_block_shuffle() -> CountingMechanism:
    return with_bit_epsilon(Shuffle(SHAPE, EPSILON), Fraction(EPSILON) / (2 * SHAPE.horizon))


class EveryQuestion(SubsetSelection):
    """Answers every question with the whole ε; nobody knows the likelihood of all answers."""

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array:
        answers = [
            np.asarray(super(EveryQuestion, self).privatize_many(trajectory, one, count, source))
            for one in self.ask((replace(assignment, questions=()),))
        ]
        return np.concatenate(answers, axis=1)

    log_likelihood = Mechanism.log_likelihood


class SharedNoise(Laplace):
    """Draws one noise for all the counters of a report."""

    independent_counters = False

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        size = math.prod(counts.shape[:-1])
        noise = discrete_laplace(source, self.scale, size).reshape(*counts.shape[:-1], 1)
        return counts + noise


class TellingLength(Laplace):
    """Appends a zero for every step that the user took: the content says nothing more."""

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        report = super().privatize(trajectory, assignment, source)
        return np.append(report, np.zeros(len(trajectory.states), dtype=report.dtype))


class ReusedSeed(Laplace):
    """Draws the same noise for every user."""

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        return super().privatize(trajectory, assignment, InsecureSource(7))


class NaiveLaplace(Laplace):
    """Adds noise in double precision, as a textbook has it."""

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        rng = generator_of(source, self)
        return counts + rng.laplace(scale=float(self.scale), size=counts.shape)


MUTANTS: dict[str, Callable[[], Mechanism]] = {
    make.__name__: make
    for make in (
        half_laplace,
        half_gaussian,
        half_bounded_noise,
        half_randomized_response,
        half_shuffle,
        half_subset_selection,
        one_block_laplace,
        one_block_gaussian,
        one_counter_bounded_noise,
        one_block_randomized_response,
        one_block_shuffle,
    )
} | {
    kind.__name__: lambda kind=kind: kind(SHAPE, EPSILON)
    for kind in (EveryQuestion, SharedNoise, TellingLength, ReusedSeed, NaiveLaplace)
}
