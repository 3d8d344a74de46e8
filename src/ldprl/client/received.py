"""What a client receives before an episode, and the report that it makes of it afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ldprl.client.remote import RemoteService
from ldprl.errors import real, whole_number
from ldprl.mechanisms.sampling import RandomSource
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, report_bytes_of, sealed_document
from ldprl.protocol.plan import check_room, draw
from ldprl.protocol.sealing import LARGEST_REPORT, seal


@dataclass(frozen=True)
class Received:
    """The policy to follow; behind a relay also how long reports are, and the plan's digest."""

    issued: Issued
    report_bytes: int = 0
    plan: str = ""
    due: float | None = None
    """Before when the report is not sent, in seconds since 1970."""

    @classmethod
    def ask(
        cls, remote: RemoteService, deployment: Deployment, report_id: str, source: RandomSource
    ) -> Received:
        """Fetch the assignment that the service picked for this id, or draw one from the plan."""
        if deployment.shuffle is None:
            number = source.below(MOST_POLICIES)
            document = remote.policy(report_id, number)
            return cls(Issued.from_document(document, deployment, number)).checked(deployment)
        plan, digest = remote.plan()
        return cls(*draw(plan, deployment, source), digest).checked(deployment)

    def document(self, deployment: Deployment) -> dict[str, Any]:
        """Return it as JSON, for the journal."""
        return {
            "policy": self.issued.document(deployment.built),
            "report_bytes": self.report_bytes,
            "plan": self.plan,
            "due": self.due,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any], deployment: Deployment) -> Received:
        """Read what :meth:`document` wrote."""
        policy = document["policy"]
        number = policy.get("number") if isinstance(policy, dict) else None
        issued = Issued.from_document(policy, deployment, number)
        size = whole_number("report_bytes", document["report_bytes"], 0, LARGEST_REPORT)
        due = document.get("due")
        at = None if due is None else real("due", due, "seconds since 1970")
        return cls(issued, size, str(document["plan"]), at).checked(deployment)

    def checked(self, deployment: Deployment) -> Received:
        """Return it, or refuse now what would fail once a report is drawn.

        That is what it asks, and behind a relay the size of the report, and the key.
        """
        deployment.built.codec(self.issued.assignment)
        if deployment.shuffle is not None:
            check_room(self.issued, self.report_bytes, deployment)
            self._sealed(b"", deployment)
        return self

    def report(
        self,
        deployment: Deployment,
        report_id: str,
        data: Any,
        source: RandomSource,
    ) -> bytes:
        """Randomize ``data`` and return the report as the bytes that are sent."""
        mechanism, issued = deployment.built, self.issued
        report = mechanism.privatize(data, issued.assignment, source)
        values = mechanism.codec(issued.assignment).write(report)
        content = report_bytes_of(report_id, issued, values)
        if deployment.shuffle is None:
            return content
        return sealed_document(issued, self._sealed(content, deployment))

    def _sealed(self, content: bytes, deployment: Deployment) -> bytes:
        assert deployment.shuffle is not None
        key, version = deployment.shuffle.key, self.issued.version
        return seal(content, self.report_bytes, key, deployment.digest, version, self.plan)
