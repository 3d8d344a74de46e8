"""The content of the status, the dashboard and the export, read from the database."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from ldprl.errors import instance_of
from ldprl.learnt.sample_size import users_at_random
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.policies.exported import policy_content
from ldprl.policies.parametric import ParametricPolicy
from ldprl.service.causes import REFUSALS
from ldprl.service.certificate import certificate_document
from ldprl.service.dashboard_data import dashboard_data
from ldprl.service.history import History
from ldprl.service.learners import learner_of
from ldprl.service.service import Service
from ldprl.shape import Shape
from ldprl.statistics import Effects, Statistics


def status(service: Service) -> dict[str, Any]:
    """Return the public state of the service."""
    state = service.board.refresh()
    view, deployment = service.view, service.deployment
    refusals = _refusals(service, state.outcomes)
    return {
        "deployment": deployment.digest,
        "name": deployment.name,
        "version": view.current.version,
        "users": state.users,
        "reports": {"counted": state.users, "duplicate": state.outcomes.get("duplicate", 0)},
        "refused": refusals,
        "paused": state.paused,
        "planned_at": view.current.users,
        "next_plan_at": deployment.next_plan_at(view.current.users),
        "oldest_open_version": view.first_open,
        "contradictions": service.planner.contradicted(view.current.version),
    }


def dashboard(service: Service, history: History) -> dict[str, Any]:
    """Return the numbers of the dashboard."""
    state = service.board.refresh()
    current = service.view.current
    sums = [one for one in service.database.sums() if one.users]
    first = None
    if service.deployment.built.statistics_kind == "effects":
        one = service.deployment
        few = users_at_random(one.shape, float(one.epsilon), one.structure)
        first = service.decoder.first(sums, few)
    numbers = dashboard_data(
        service.deployment,
        version=current.version,
        planned_at=current.users,
        plan=current.plan,
        statistics=service.decoder.statistics(sums),
        answered=[
            (service.decoder.assignment(one), one.users) for one in service.decoder.remembered(sums)
        ],
        refusals=_refusals(service, state.outcomes),
        paused=state.paused,
        first=first,
    )
    return numbers | {
        "users": sum(one.users for one in sums),
        "model_change": service.decoder.change(sums),
        "certificate": certificate(service),
        "history": history.points(sums),
    }


def certificate(service: Service) -> dict[str, Any] | None:
    """Return what users' answers certify, if the deployment has certificates."""
    service.board.refresh()
    evidence = service.decoder.evidence(service.database.sums())
    return None if evidence is None else certificate_document(service.deployment, evidence)


def learnt_policy(service: Service, suffix: str) -> bytes:
    """Return the policy that would be handed over now as a file, where it can be such a file."""
    service.board.refresh()
    statistics = service.decoder.statistics(service.database.sums())
    best = learner_of(service.deployment).best_policy(statistics, np.random.default_rng(0))
    policy = service.deployment.problem.check_policy("policy", best)
    return policy_content(instance_of("policy", policy, ParametricPolicy), suffix)


def export(service: Service) -> dict[str, Any]:
    """Return everything in the database except the ids and the secret."""
    state = service.board.refresh()
    sums = service.database.sums()
    statistics = service.decoder.statistics(sums)
    plans = [asdict(stored) for stored in service.database.plans(0)]
    return {
        "digest": service.deployment.digest,
        "deployment": service.deployment.document,
        "totals": asdict(state),
        "plans": [plan | {"assignments": json.loads(plan["assignments"])} for plan in plans],
        "sums": [asdict(one) | {"tally": one.tally.tolist()} for one in sums],
        "statistics": _plain(statistics),
    }


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, ReturnSums):
        # Learners go through the sums themselves, plan by plan.
        return {"users": value.users}
    if isinstance(value, Statistics | Shape | Effects):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _refusals(service: Service, outcomes: dict[str, int]) -> dict[str, int]:
    """Return refusals by cause, with those of this process that are not written yet."""
    pending = service.committer.pending()
    return {cause: outcomes.get(cause, 0) + pending[cause] for cause in REFUSALS}
