"""What a deployment says of certificates: who answers for them, and how sure they are to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ldprl.errors import InputError, decimal_text, one_of, probability
from ldprl.mechanisms.mechanism import Mechanism

_FIELDS = ("share", "confidence")
_OPTIONAL = ("most_lost", "alarm")
_MOST = 0.5
"""Half of the users at least teach the learner."""


@dataclass(frozen=True)
class Certified:
    """The table ``[certificate]``, as decimal strings."""

    share: str
    """Share of the users who report what the policy was worth, not what the learner asks."""
    confidence: str
    """Probability with which all intervals hold, at all times at once."""
    most_lost: str | None = None
    """Share of the incumbent's return that users may lose by exploring; None without a limit."""
    alarm: str | None = None
    """Probability of ever raising a false alarm; None if changes are not looked for."""

    def __post_init__(self) -> None:
        for name, value in self.document().items():
            object.__setattr__(self, name, decimal_text(f"certificate.{name}", value))

    def check(self, mechanism: Mechanism, *, has_incumbent: bool) -> None:
        """Refuse what cannot be certified."""
        if not 0 < float(self.share) <= _MOST:
            raise InputError("certificate.share", self.share, f"a number above 0, at most {_MOST}")
        probability("certificate.confidence", float(self.confidence), zero=False)
        if self.most_lost is not None:
            probability("certificate.most_lost", float(self.most_lost), zero=False, one=True)
            if not has_incumbent:
                expected = "an incumbent in [structure] that it is a share of, or [policy]'s start"
                raise InputError("certificate.most_lost", self.most_lost, expected)
        if self.alarm is not None:
            probability("certificate.alarm", float(self.alarm), zero=False)
        if mechanism.answers > 1:
            raise InputError("answers", mechanism.answers, "1, with [certificate]")

    def document(self) -> dict[str, str]:
        """Return it as JSON, without floats."""
        fields = {field: getattr(self, field) for field in _FIELDS + _OPTIONAL}
        return {field: value for field, value in fields.items() if value is not None}

    @classmethod
    def from_table(cls, table: object) -> Certified:
        """Read the table ``[certificate]`` of a file or a document."""
        for key in table if isinstance(table, Mapping) else ():
            one_of("certificate key", key, _FIELDS + _OPTIONAL)
        if not isinstance(table, Mapping) or not set(_FIELDS) <= set(table):
            expected = f"a table of {', '.join(_FIELDS)} and, if wanted, {', '.join(_OPTIONAL)}"
            raise InputError("certificate", table, expected)
        return cls(**table)
