"""What a deployment promises to users whose reports a relay mixes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ldprl.accounting.shuffling import MOST_USERS, central_delta, central_epsilon
from ldprl.errors import InputError, decimal_text, positive, probability, whole_number
from ldprl.mechanisms.mechanism import Mechanism

_FIELDS = ("crowd", "central_epsilon", "delta", "key")
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Shuffled:
    """A deployment behind a relay."""

    crowd: int
    """The relay hands over no fewer reports than this."""
    central_epsilon: str
    delta: str
    """The privacy of a report in such a crowd, as decimal strings."""
    key: str
    """The service's public X25519 key in hex, which reports are sealed to."""

    def __post_init__(self) -> None:
        for name in ("central_epsilon", "delta"):
            text = decimal_text(f"shuffle.{name}", getattr(self, name))
            object.__setattr__(self, name, text)

    def check(self, mechanism: Mechanism) -> None:
        """Refuse a promise that a crowd of this size does not keep with ``mechanism``."""
        whole_number("shuffle.crowd", self.crowd, 2, MOST_USERS)
        epsilon = positive("shuffle.central_epsilon", float(self.central_epsilon))
        delta = probability("shuffle.delta", float(self.delta), zero=False)
        if not isinstance(self.key, str) or not _KEY.fullmatch(self.key):
            raise InputError("shuffle.key", self.key, "64 hexadecimal digits, from ldprl keys pair")
        blankets = mechanism.blankets()
        if central_delta(blankets, self.crowd, epsilon) > delta:
            least = central_epsilon(blankets, self.crowd, delta)
            above = f"at least {least * (1 + 1e-5):.6g}"
            expected = f"{above}, what a crowd of {self.crowd} has at δ = {delta:g}"
            raise InputError("shuffle.central_epsilon", self.central_epsilon, expected)

    def document(self) -> dict[str, Any]:
        """Return it as JSON, without floats."""
        return {field: getattr(self, field) for field in _FIELDS}

    def promises(self, mechanism: Mechanism) -> str:
        """Say in plain words what a user has, with and without trust in the relay."""
        local = mechanism.guarantee.epsilon
        return (
            f"Even if relay and service work together: ε₀ = {local:g}, δ = 0."
            f" As long as they do not: ε = {self.central_epsilon}, δ = {self.delta}, because your"
            f" report is mixed with those of at least {self.crowd - 1:,} others. If fewer than"
            f" {self.crowd:,} people report in time, your report is destroyed unread."
        )

    @classmethod
    def from_table(cls, table: object) -> Shuffled:
        """Read the table ``[shuffle]`` of a file or a document."""
        if not isinstance(table, Mapping) or set(table) != set(_FIELDS):
            raise InputError("shuffle", table, "a table of " + ", ".join(_FIELDS))
        return cls(
            whole_number("shuffle.crowd", table["crowd"], 2),
            table["central_epsilon"],
            table["delta"],
            table["key"],
        )
