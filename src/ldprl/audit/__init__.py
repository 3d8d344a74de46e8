"""An attacker for every mechanism: what it can certify against a claim of (ε, δ).

A claim is refuted by two trajectories and a set of reports that is too much more likely under one
than under the other. The attacker looks for such a set on one half of its reports and measures it
on the other, so that what it states holds with confidence 1 − 10⁻⁶ whatever it looked for.
"""

from __future__ import annotations

from ldprl.audit.auditor import ATTACKS, Audit, audit
from ldprl.audit.batches import CrowdAudit, audit_crowd

__all__ = ["ATTACKS", "Audit", "CrowdAudit", "audit", "audit_crowd"]
