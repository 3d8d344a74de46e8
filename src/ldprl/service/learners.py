"""Who can plan for a service."""

from __future__ import annotations

from ldprl.catalogue import LEARNERS, check_pair, check_structure
from ldprl.errors import InputError
from ldprl.learning.learner import Learner
from ldprl.mechanisms.by_name import check_level
from ldprl.protocol.deployment import Deployment


def learner_of(deployment: Deployment) -> Learner:
    """Return the learner that a deployment names, or refuse one that cannot serve."""
    kind = LEARNERS.find(deployment.learner)
    if not kind.can_serve():
        able = ", ".join(name for name, one in LEARNERS.items() if one.can_serve())
        expected = f"one that learns from private sums, for any number of users: {able}"
        raise InputError("learner", deployment.learner, expected)
    check_pair(deployment.learner, deployment.mechanism)
    check_structure(deployment.learner, deployment.structure)
    return kind.build(
        deployment.built,
        failure_probability=float(deployment.failure_probability),
        structure=deployment.structure,
        memory_users=deployment.memory_users,
    )


def check_used(deployment: Deployment) -> None:
    """Refuse a new deployment with a key that neither mechanism nor learner has a use for.

    One that has a plan goes on as it is: clients know it by its digest, which has these keys.
    """
    check_level(deployment.mechanism, None, float(deployment.delta))
    used = "failure_probability" in LEARNERS.find(deployment.learner).parameters()
    if not used and deployment.failure_probability != Deployment.failure_probability:
        expected = f"none with {deployment.learner}, which does not use it"
        raise InputError("failure_probability", deployment.failure_probability, expected)
