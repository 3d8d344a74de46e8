"""Certificates: intervals for the worth of a policy that trust no model."""

from ldprl.certificates.certificate import (
    Certificate,
    Scale,
    certificate,
    incumbent_certificate,
)
from ldprl.certificates.change import Change, changed_at
from ldprl.certificates.evidence import Evidence, Terms
from ldprl.certificates.sequence import Bits, Interval, difference_interval, mean_interval

__all__ = [
    "Bits",
    "Certificate",
    "Change",
    "Evidence",
    "Interval",
    "Scale",
    "Terms",
    "certificate",
    "changed_at",
    "difference_interval",
    "incumbent_certificate",
    "mean_interval",
]
