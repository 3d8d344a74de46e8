"""An attack on shuffled batches: whether the crowd is as large as stated.

An attacker who knows what happened to the others, the same to each of them, distinguishes two
victims by the likelihood ratio of the batch. The victim may have sent any of the reports, so it is

    ln Σ_i P(z_i | first)/P(z_i | others) − ln Σ_i P(z_i | second)/P(z_i | others),

whatever the order of the reports: no score is better. A stated crowd promises δ(ε) at every ε; the
ε at which to hold it against its promise is chosen on one half of the batches, the other half is
measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ldprl.accounting.shuffling import central_delta
from ldprl.audit.bound import LeastDelta
from ldprl.audit.neighbours import Neighbours, worst_pairs
from ldprl.audit.region import Region, ScoreAttack
from ldprl.audit.reports import draw_reports
from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import InsecureSource, RandomSource
from ldprl.shape import Array, FloatArray

# Where a crowd's promise is tested, in shares of ε₀.
_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6)
_CHUNK = 2**17
"""Reports whose likelihoods are in memory at a time."""
_SCOUTS = 400
"""Batches of either victim by which the worst victims and others are chosen."""


@dataclass(frozen=True)
class Scene:
    """Two victims, one of whom is in the batch, and what happened to each of the others."""

    pair: Neighbours
    others: Any


@dataclass(frozen=True)
class CrowdAudit:
    """What an attacker certified against the promise of a crowd.

    Attributes
    ----------
    crowd
        How many reports are said to be in every batch.
    epsilon, claimed_delta
        Where the promise was tested, and the δ(ε) that such a crowd promises there.
    empirical_delta_lower
        A lower bound on the true δ(ε); it holds with probability 1 − 10⁻⁶.
    batches
        How many batches with either victim were measured; as many more went into the plan.
    verdict
        ``violated`` if the bound exceeds the promise.
    """

    crowd: int
    epsilon: float
    claimed_delta: float
    empirical_delta_lower: float
    batches: int
    verdict: Literal["holds", "violated"]


def audit_crowd(
    mechanism: Mechanism,
    crowd: int,
    *,
    present: int | None = None,
    batches: int = 10_000,
    seed: int = 0,
) -> CrowdAudit:
    """Attack batches of ``present`` reports that are said to have ``crowd`` of them each.

    Reports are drawn with the client's own code. The same seed gives the same audit.
    """
    whole_number("crowd", crowd, 1)
    whole_number("batches", batches, 1)
    size = crowd if present is None else whole_number("present", present, 1)
    source = InsecureSource(seed)
    scene = _worst_scene(mechanism, size, source)
    seen = [batch_scores(mechanism, scene, size, batches, source) for _ in range(2)]
    return judge(mechanism, crowd, seen[0], seen[1])


def _worst_scene(mechanism: Mechanism, size: int, source: RandomSource) -> Scene:
    """Return the victims and the others whose batches differ most, seen in a few of them."""
    pairs = worst_pairs(mechanism)
    everybody = dict.fromkeys(one for pair in pairs for one in (pair.first, pair.second))
    scenes = [Scene(pair, others) for pair in pairs for others in everybody]

    def apart(scene: Scene) -> float:
        first, second = batch_scores(mechanism, scene, size, _SCOUTS, source)
        spread = float(first.std() + second.std())
        return float(first.mean() - second.mean()) / spread if spread else 0.0

    return max(scenes, key=apart)


def judge(
    mechanism: Mechanism,
    crowd: int,
    plan: tuple[FloatArray, FloatArray],
    measured: tuple[FloatArray, FloatArray],
) -> CrowdAudit:
    """Hold scores of batches with either victim against what ``crowd`` reports promise."""
    blankets = mechanism.blankets()
    local = max(blanket.local_epsilon for blanket in blankets)
    attack = ScoreAttack(lambda reports: reports.values[:, 0])
    found: list[tuple[float, float, float, Region]] = []
    for share in _SHARES:
        epsilon = share * local
        promise, region = attack.plan(*plan, LeastDelta(epsilon))
        claimed = central_delta(blankets, crowd, epsilon)
        found.append((promise - claimed, epsilon, claimed, region))
    _, epsilon, claimed, region = max(found, key=lambda one: one[0])
    certified = max(0.0, region.certify(*measured, LeastDelta(epsilon)))
    verdict: Literal["holds", "violated"] = "violated" if certified > claimed else "holds"
    return CrowdAudit(crowd, epsilon, claimed, certified, len(measured[0]), verdict)


def batch_scores(
    mechanism: Mechanism, scene: Scene, size: int, batches: int, source: RandomSource
) -> tuple[FloatArray, FloatArray]:
    """Draw batches with the first and with the second victim, and return their scores."""
    first, second = (
        _scores(mechanism, scene, victim, size, batches, source)
        for victim in (scene.pair.first, scene.pair.second)
    )
    return first, second


def batch_score(mechanism: Mechanism, scene: Scene, reports: Array, batches: int) -> FloatArray:
    """Return the score of each of ``batches`` equally long runs of reports."""
    pair = scene.pair
    of = [
        mechanism.log_likelihood(reports, data, pair.assignment)
        for data in (pair.first, pair.second, scene.others)
    ]
    if any(each is None for each in of):
        raise InputError("mechanism", mechanism.name, "one with a log-likelihood, for crowds")
    ratios = [np.exp(np.asarray(of[side]) - np.asarray(of[2])) for side in (0, 1)]
    # Sorted: the rounding error of a sum must not show the place of the victim's report.
    sums = [np.sort(ratio.reshape(batches, -1), axis=1).sum(axis=1) for ratio in ratios]
    score: FloatArray = np.log(sums[0]) - np.log(sums[1])
    return score


def _scores(
    mechanism: Mechanism,
    scene: Scene,
    victim: Any,
    size: int,
    batches: int,
    source: RandomSource,
) -> FloatArray:
    parts = []
    step = max(1, _CHUNK // size)
    assignment = scene.pair.assignment
    for start in range(0, batches, step):
        count = min(step, batches - start)
        own = draw_reports(mechanism, victim, assignment, count, source).values
        others = own[:0]
        if size > 1:
            others = draw_reports(
                mechanism, scene.others, assignment, count * (size - 1), source
            ).values
        mixed = np.concatenate(
            [own[:, None, :], others.reshape(count, size - 1, own.shape[1])], axis=1
        )
        parts.append(batch_score(mechanism, scene, mixed.reshape(-1, own.shape[1]), count))
    return np.concatenate(parts)
