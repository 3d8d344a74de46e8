"""Counters of this process, in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Histogram:
    """How often a duration was at most each of a few bounds."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BUCKETS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Take in one duration."""
        self._sum += seconds
        for place, bound in enumerate(_BUCKETS):
            if seconds <= bound:
                self._counts[place] += 1
                return
        self._counts[-1] += 1

    def lines(self, name: str) -> Iterable[str]:
        """Return the histogram's lines, counts cumulated."""
        total = 0
        for bound, count in zip((*_BUCKETS, "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self._sum}"
        yield f"{name}_count {total}"


class Metrics:
    """What this process did since it started.

    Attributes
    ----------
    reports
        Reports answered, by ``counted``, ``duplicate`` or ``refused``.
    refused
        Refused reports by cause.
    delayed
        Requests told to come again later, by cause.
    commits
        How long commits took.
    """

    def __init__(self) -> None:
        self.reports: Counter[str] = Counter(counted=0, duplicate=0, refused=0)
        self.refused: Counter[str] = Counter()
        self.delayed: Counter[str] = Counter()
        self.commits = Histogram()

    def text(self, *, waiting: int, version: int, users: int, healthy: bool) -> str:
        """Return all metrics; the last four are the caller's to know."""
        lines = [
            *_family(
                "ldprl_reports_total", "counter", "Reports answered.", "outcome", self.reports
            ),
            *_family("ldprl_refused_total", "counter", "Reports refused.", "cause", self.refused),
            *_family("ldprl_delayed_total", "counter", "Requests put off.", "cause", self.delayed),
            *_head("ldprl_commit_seconds", "histogram", "Time of a group commit."),
            *self.commits.lines("ldprl_commit_seconds"),
            *_gauge("ldprl_waiting_reports", "Reports that wait for a commit.", waiting),
            *_gauge("ldprl_plan_version", "Version of the plan in force.", version),
            *_gauge("ldprl_users", "Reports counted, by all servers together.", users),
            *_gauge("ldprl_healthy", "Whether the database answers.", int(healthy)),
        ]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]


def _family(name: str, kind: str, text: str, label: str, counts: Counter[str]) -> list[str]:
    rows = [f'{name}{{{label}="{key}"}} {count}' for key, count in sorted(counts.items())]
    return [*_head(name, kind, text), *rows]


def _gauge(name: str, text: str, value: int) -> list[str]:
    return [*_head(name, "gauge", text), f"{name} {value}"]
