"""How learning went: the dashboard's numbers as they were after each of a few versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ldprl.certificates.certificate import certificate
from ldprl.errors import instance_of
from ldprl.learning.ldp_ts import LDPTS
from ldprl.learnt.models import progress
from ldprl.learnt.search import searched
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.service.database.protocol import Sum
from ldprl.service.service import Service
from ldprl.shape import IntArray
from ldprl.statistics import Statistics

_POINTS = 16
"""Points in time that are shown, spread evenly over the logarithm of the users."""
_KEPT = 64
"""Computed points in memory."""


class History:
    """Computes each point once, as long as no late report changes it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._known: dict[tuple[int, int], dict[str, Any]] = {}

    def points(self, sums: Sequence[Sum]) -> list[dict[str, Any]]:
        """Return what was known from the reports of versions 1 to v, for a few v."""
        versions = np.array([one.version for one in sums])
        users = np.cumsum([one.users for one in sums])
        result = []
        for version in _spread(versions, users):
            until = int(np.searchsorted(versions, version, side="right"))
            key = (version, int(users[until - 1]))
            if key not in self._known:
                self._known[key] = self._point(sums[:until])
                if len(self._known) > _KEPT:
                    del self._known[next(iter(self._known))]
            result.append(self._known[key])
        return result

    def _point(self, sums: Sequence[Sum]) -> dict[str, Any]:
        decoder, deployment = self._service.decoder, self._service.deployment
        statistics, users = decoder.statistics(sums), sum(one.users for one in sums)
        point: dict[str, Any] = {"users": users, "settled": None, "loss": None}
        if isinstance(statistics, ReturnSums):
            seen = searched(
                instance_of("mechanism", deployment.built, ThresholdBits), statistics.laws
            )
            point |= {key: seen[key] for key in ("value", "error")}
        elif isinstance(statistics, Statistics) and statistics.effects is None:
            belief = LDPTS(deployment.built, structure=deployment.structure).belief(statistics)
            found = progress(statistics, belief, np.random.default_rng(0))
            point |= {
                "settled": round(found.settled, 4),
                "loss": round(float(found.losses.mean()), 4),
            }
        evidence = decoder.evidence(sums, until=sums[-1].version)
        point["certified"] = None
        if evidence is not None and evidence.current is not None:
            bits, place, terms = evidence.bits, evidence.current, evidence.terms
            shown = certificate(bits[place], place + 1, terms.scale, terms.confidence)
            point["certified"] = asdict(shown.worth)
        return point


def _spread(versions: IntArray, users: IntArray) -> list[int]:
    """Return the versions after which the users come closest to evenly spread logarithms."""
    last = {int(v): int(n) for v, n in zip(versions, users, strict=True) if n > 0}
    if not last:
        return []
    numbers, totals = np.array(list(last)), np.array(list(last.values()))
    goals = np.geomspace(totals[0], totals[-1], _POINTS)
    places = np.unique(np.abs(np.log(totals) - np.log(goals)[:, None]).argmin(axis=1))
    chosen: list[int] = numbers[places].tolist()
    return chosen
