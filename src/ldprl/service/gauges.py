"""The service's present state and learning progress, as numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ldprl.service.metrics import Gauge
from ldprl.service.service import Service

_PROGRESS = {
    "settled": ("ldprl_settled_share", "Share of decisions that are settled."),
    "value": ("ldprl_expected_return", "Return of the best policy known, median of the belief."),
    "low": ("ldprl_expected_return_low", "The same, 5% quantile of the belief."),
    "high": ("ldprl_expected_return_high", "The same, 95% quantile of the belief."),
    "loss": ("ldprl_expected_loss", "What the best policy of a drawn model would add, on average."),
}
"""The dashboard's ``progress``, and the gauge that each number of it is."""
_LEARNING = {
    "closed": ("ldprl_learnt_share", "Share of the gap from acting at random to the best, closed."),
    "significant": ("ldprl_learnt", "Whether that is more than noise."),
    "best_value": ("ldprl_best_value", "Return of the best policy, median of the belief."),
    "random_value": ("ldprl_random_value", "The same of acting at random."),
    "value": ("ldprl_value", "The same of what is handed out now."),
}
"""The same for its ``learning``."""

_CERTIFIED = {
    "worth": ("ldprl_certified_return", "Certified return of the policy under certificate"),
    "better": ("ldprl_certified_gain", "The same minus the incumbent's"),
}
"""Its ``certificate``: the intervals of the current policy, each a gauge for either end."""


def gauges(service: Service, dashboard: Mapping[str, Any] | None) -> list[Gauge]:
    """Return the gauges; those of learning are missing until ``dashboard`` has been computed."""
    view = service.board.view
    found = [
        Gauge("ldprl_healthy", "Whether the database responds.", int(service.board.healthy)),
        Gauge(
            "ldprl_plan_overdue_seconds",
            "For how long the next plan has been due.",
            round(service.board.overdue_seconds, 3),
        ),
        Gauge(
            "ldprl_waiting_reports", "Reports that wait for a commit.", service.committer.waiting
        ),
    ]
    if view is not None:
        users, current = view.state.users, view.current
        next_plan = service.deployment.next_plan_at(current.users)
        found += [
            Gauge("ldprl_users", "Reports counted, by all servers together.", users),
            Gauge("ldprl_plan_version", "Version of the plan in force.", current.version),
            Gauge("ldprl_plan_users", "Reports counted when it was made.", current.users),
            Gauge("ldprl_next_plan_users", "Reports at which the next plan is due.", next_plan),
            Gauge("ldprl_paused", "Whether the service is paused.", int(view.state.paused)),
        ]
    if dashboard is None:
        return found
    wrong, learning = len(dashboard["contradictions"]), dashboard["learning"]
    found.append(Gauge("ldprl_contradictions", "What reports say against [structure].", wrong))
    known = {key: value for key, value in (learning or {}).items() if value is not None}
    found += [Gauge(*named, float(known[key])) for key, named in _LEARNING.items() if key in known]
    if (progress := dashboard["progress"]) is not None:
        found += [Gauge(*named, progress[key]) for key, named in _PROGRESS.items()]
    found += _certified(dashboard["certificate"])
    changes = (dashboard["model_change"], (dashboard["certificate"] or {}).get("change"))
    changed = int(any(change is not None for change in changes))
    found.append(Gauge("ldprl_world_changed", "Whether a change was noticed.", changed))
    return found


def _certified(certificate: Mapping[str, Any] | None) -> Iterator[Gauge]:
    """Return the certified intervals of the policy that is under certificate now."""
    if certificate is None or certificate["current"] is None:
        return
    policy = certificate["policies"][certificate["current"]]
    for key, (name, text) in _CERTIFIED.items():
        for end in policy.get(key, {}):
            yield Gauge(f"{name}_{end}", f"{text}, {end} end.", policy[key][end])
