"""Adding up the reports of one commit, whatever the database."""

from __future__ import annotations

from collections.abc import Sequence

from ldprl.service.store.protocol import Admitted
from ldprl.shape import IntArray


def fresh(reports: Sequence[Admitted], known: set[bytes]) -> tuple[list[Admitted], list[bool]]:
    """Return the reports whose id is neither ``known`` nor told before, and which they are."""
    seen = set(known)
    new: list[Admitted] = []
    counted = []
    for report in reports:
        first = report.id not in seen
        counted.append(first)
        if first:
            seen.add(report.id)
            new.append(report)
    return new, counted


def added(reports: Sequence[Admitted]) -> dict[tuple[int, int], tuple[int, IntArray]]:
    """Return, by (version, assignment) in order, how many reports there are and their sum."""
    groups: dict[tuple[int, int], list[Admitted]] = {}
    for report in reports:
        groups.setdefault((report.version, report.assignment), []).append(report)
    return {
        place: (
            len(group),
            group[0].alphabet.total(
                [report.values for report in group], [report.table for report in group]
            ),
        )
        for place, group in sorted(groups.items())
    }
