"""Certificates of a service: a function of its plans and sums, the same after every restart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ldprl.assignment import Plan
from ldprl.certificates.certificate import Certificate, Scale
from ldprl.certificates.evidence import Evidence, Terms
from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.protocol import Sum
from ldprl.service.plans import plan_from


def terms_of(deployment: Deployment) -> Terms | None:
    """Return what the certificates of a deployment are to be, if it has any."""
    certified, mechanism = deployment.certificate, deployment.built
    if certified is None:
        return None
    least, most = deployment.problem.returns
    return Terms(
        float(certified.share),
        float(certified.confidence),
        Scale(mechanism.kept, most, least),
        deployment.incumbent,
        None if certified.most_lost is None else float(certified.most_lost),
        None if certified.alarm is None else float(certified.alarm),
        deployment.memory_users,
    )


def evidence_of(
    terms: Terms, plans: Mapping[int, tuple[int, Plan]], sums: Sequence[Sum]
) -> Evidence:
    """Return the answers in ``sums``; ``plans`` has, by version, the users it was made from."""
    answered: dict[int, list[Sum]] = {version: [] for version in sorted(plans)}
    for one in sums:
        if one.users:
            answered[one.version].append(one)
    evidence = Evidence(terms)
    for version, of_version in answered.items():
        users, plan = plans[version]
        evidence.note(users, plan)
        for one in of_version:
            evidence.add(plan[one.assignment], one.users, one.tally)
    return evidence


def certificate_document(deployment: Deployment, evidence: Evidence) -> dict[str, Any]:
    """Return what ``GET /v1/certificate`` responds, as JSON."""
    incumbent, change = evidence.incumbent_certificate(), evidence.change()
    return {
        "deployment": deployment.digest,
        "confidence": evidence.terms.confidence,
        "least": evidence.terms.scale.least,
        "largest": evidence.terms.scale.largest,
        "policies": [
            _written(evidence.certificate(place)) | {"chosen_at": users}
            for place, users in enumerate(evidence.chosen_at)
        ],
        "current": evidence.current,
        "incumbent": None if incumbent is None else _written(incumbent),
        "alarm": evidence.terms.alarm,
        "change": None if change is None else asdict(change),
    }


def certify_export(document: object) -> dict[str, Any]:
    """Return the certificate of what ``GET /v1/admin/export`` responded."""
    try:
        assert isinstance(document, dict)
        deployment = Deployment.from_document(document["deployment"])
        plans = {
            stored["version"]: (
                stored["users"],
                plan_from(json.dumps(stored["assignments"]), deployment.built),
            )
            for stored in document["plans"]
        }
        sums = [Sum(**one | {"tally": np.array(one["tally"])}) for one in document["sums"]]
        terms = terms_of(deployment)
        evidence = None if terms is None else evidence_of(terms, plans, sums)
    except (AssertionError, LookupError, TypeError, OverflowError):
        expected = "what GET /v1/admin/export responds, whole"
        raise InputError("export", type(document).__name__, expected) from None
    if evidence is None:
        raise InputError("export", deployment.name, "a deployment with [certificate]")
    return certificate_document(deployment, evidence)


def _written(certificate: Certificate) -> dict[str, Any]:
    return {key: value for key, value in asdict(certificate).items() if value is not None}
