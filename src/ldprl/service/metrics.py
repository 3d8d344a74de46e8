"""Counters of this process, in Prometheus' text format."""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_REQUEST_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_PLAN_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


class Histogram:
    """How often a duration was at most each of a few bounds, in seconds."""

    def __init__(self, bounds: tuple[float, ...] = _REQUEST_SECONDS) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Take in one duration."""
        self._sum += seconds
        self._counts[bisect.bisect_left(self._bounds, seconds)] += 1

    def lines(self, name: str, label: str = "") -> Iterable[str]:
        """Return the histogram's lines, counts cumulated; ``label`` is ``key="value"`` or empty."""
        total = 0
        prefix, alone = (f"{label},", f"{{{label}}}") if label else ("", "")
        for bound, count in zip((*self._bounds, "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{prefix}le="{bound}"}} {total}'
        yield f"{name}_sum{alone} {self._sum}"
        yield f"{name}_count{alone} {total}"


class Gauge(NamedTuple):
    """A number as it is now."""

    name: str
    help: str
    value: float


class Metrics:
    """What this process did since it started.

    Attributes
    ----------
    reports
        Reports answered, by ``counted``, ``duplicate`` or ``refused``.
    refused
        Refused reports by cause.
    delayed
        Requests that clients are asked to repeat later, by cause.
    commits
        How long commits took.
    plans
        How long plans took, from reading the sums to publishing.
    """

    def __init__(self) -> None:
        self.reports: Counter[str] = Counter(counted=0, duplicate=0, refused=0)
        self.refused: Counter[str] = Counter()
        self.delayed: Counter[str] = Counter()
        self.commits = Histogram()
        self.plans = Histogram(_PLAN_SECONDS)
        self._requests: defaultdict[str, Histogram] = defaultdict(Histogram)
        self._statuses: Counter[tuple[str, int]] = Counter()

    def observe_request(self, route: str, status: int, seconds: float) -> None:
        """Take in one request."""
        self._requests[route].observe(seconds)
        self._statuses[route, status] += 1

    def text(self, gauges: Iterable[Gauge]) -> str:
        """Return all metrics, with gauges that the caller has read."""
        lines = [
            *_family("ldprl_reports_total", "Reports answered.", "outcome", self.reports),
            *_family("ldprl_refused_total", "Reports refused.", "cause", self.refused),
            *_family("ldprl_delayed_total", "Requests put off.", "cause", self.delayed),
            *_head("ldprl_commit_seconds", "histogram", "Time of a group commit."),
            *self.commits.lines("ldprl_commit_seconds"),
            *_head("ldprl_plan_seconds", "histogram", "Time to make and publish a plan."),
            *self.plans.lines("ldprl_plan_seconds"),
            *_head("ldprl_request_seconds", "histogram", "Time of a request, by route."),
        ]
        for route, histogram in sorted(self._requests.items()):
            lines += histogram.lines("ldprl_request_seconds", f'route="{route}"')
        lines += _head("ldprl_requests_total", "counter", "Requests, by route and status.")
        for (route, status), count in sorted(self._statuses.items()):
            lines.append(f'ldprl_requests_total{{route="{route}",status="{status}"}} {count}')
        for gauge in gauges:
            lines += _head(gauge.name, "gauge", gauge.help)
            lines.append(f"{gauge.name} {gauge.value}")
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]


def _family(name: str, text: str, label: str, counts: Mapping[str, int]) -> list[str]:
    rows = [f'{name}{{{label}="{key}"}} {count}' for key, count in sorted(counts.items())]
    return [*_head(name, "counter", text), *rows]
