"""A policy on vectors as a page shows it: its weights by name, and what it tells some people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ldprl.policies.features import Feature
from ldprl.policies.parametric import Parametric, ParametricPolicy
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import FloatArray

_MOST_WEIGHTS = 2000
"""Weights that a page shows: a browser is slow with more."""
_MOST_EXAMPLES = 13
"""Everything as usual, and one more or one less of six features."""
_DRAWN = 100
"""Users whose policies are drawn to see who else is told the same."""
_DIGITS = 4


def policy_data(law: Perturbed, handed_over: ParametricPolicy) -> dict[str, Any]:
    """Return what a page shows of the policies in force, as JSON.

    ``weights`` is None where parameters are no weights, or too many to read. An example has what
    somebody sees, what the policy that would be handed over tells them, what the one that all
    started from did, and the share of users who are told the same.
    """
    problem = law.problem
    weights = problem.weights(handed_over.parameters)
    if weights is not None:
        values = np.array(weights["values"])
        fits = values.size <= _MOST_WEIGHTS
        weights = weights | {"values": values.round(_DIGITS).tolist()} if fits else None
    spread = np.sqrt(np.mean(law.spread.astype(np.float64) ** 2)) / problem.spread
    return {
        "kind": problem.stated()["policy"]["kind"],
        "features": problem.features.document(),
        "actions": problem.actions.document(),
        "parameters": problem.size,
        "spread": round(float(spread), _DIGITS),
        "weights": weights,
        "examples": list(_examples(law, handed_over)),
    }


def _examples(law: Perturbed, handed_over: ParametricPolicy) -> Iterator[dict[str, Any]]:
    problem = law.problem
    shifts = law.draw(np.random.default_rng(0), max(1, min(_DRAWN, 10**6 // problem.size)))
    drawn, actions = law.shifted(shifts), problem.actions
    start = problem.start.astype(np.float64)
    for words, seen in _situations(problem):
        told = problem.act(handed_over.parameters, seen)
        many = problem.act_many(drawn, np.tile(seen, (len(drawn), 1)))
        same = np.mean([actions.told(one) == told for one in many])
        yield {
            "observation": seen.tolist(),
            "words": words,
            "action": told,
            "told": actions.in_words(told),
            "start": actions.in_words(problem.act(start, seen)),
            "share": round(float(same), 2),
        }


def _situations(problem: Parametric) -> Iterator[tuple[str, FloatArray]]:
    """Yield what somebody may see: all as usual, then one feature at a time is not."""
    each, usual = problem.features.each, problem.features.centre
    yield "everything as usual", usual
    left = _MOST_EXAMPLES - 1
    for i, feature in enumerate(each):
        for value in _unusual(feature)[:left]:
            seen = usual.copy()
            seen[i] = value
            left -= 1
            yield feature.in_words(value), seen


def _unusual(feature: Feature) -> list[float]:
    if feature.categories:
        return [float(number) for number in range(1, len(feature.categories))]
    centre, scale = float(feature.centre), float(feature.scale)
    return [centre + scale, centre - scale]
