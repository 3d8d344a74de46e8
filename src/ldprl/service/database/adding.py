"""Which reports of a commit count, and what they add: the same for every database."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Mapping, Sequence

from ldprl.mechanisms.codec import Adder
from ldprl.service.database.protocol import Admitted, Verdict
from ldprl.shape import IntArray

ById = dict[int, dict[bytes, Admitted]]
"""Reports by version and id: an id counts once under its version."""


def first_of_each_id(reports: Sequence[Admitted], forgotten: int) -> ById:
    """Return the first report of each version and id, of versions above ``forgotten``."""
    first: ById = {}
    # From the end, so that the first of each id is the one that stays.
    for report in reversed(reports):
        if report.version > forgotten:
            first.setdefault(report.version, {})[report.id] = report
    return first


def verdicts(reports: Sequence[Admitted], counted: ById, forgotten: int) -> list[Verdict]:
    """Return what becomes of each report, of which those in ``counted`` are counted.

    The ids of versions up to ``forgotten`` are deleted: a new report under such a version cannot be
    distinguished from one that was counted before, so it is refused.
    """
    if sum(map(len, counted.values())) == len(reports):
        return ["counted"] * len(reports)
    result: list[Verdict] = []
    for report in reports:
        if report.version <= forgotten:
            result.append("expired-version")
        else:
            mine = counted.get(report.version, {})
            result.append("counted" if mine.get(report.id) is report else "duplicate")
    return result


def not_counted(result: Sequence[Verdict], refused: Mapping[str, int]) -> Counter[str]:
    """Return how many reports were not counted, by cause, with those ``refused`` before."""
    causes: Counter[str] = Counter(result)
    del causes["counted"]
    causes.update(refused)
    return causes


def added(counted: ById) -> dict[tuple[int, int], tuple[int, IntArray]]:
    """Return, by (version, assignment) in order, how many reports there are and their sum."""
    groups: dict[tuple[int, int], list[Admitted]] = {}
    for version, mine in counted.items():
        for report in mine.values():
            groups.setdefault((version, report.assignment), []).append(report)
    return {place: (len(group), _sum(group)) for place, group in sorted(groups.items())}


def _sum(group: Sequence[Admitted]) -> IntArray:
    """Add up reports under one assignment: those of some requests are drawn, of others not."""
    kinds: dict[type[Adder], list[Admitted]] = {}
    for report in group:
        kinds.setdefault(type(report.codec), []).append(report)
    parts = [
        some[0].codec.total([one.values for one in some], [one.number for one in some])
        for some in kinds.values()
    ]
    return functools.reduce(operator.add, parts)
