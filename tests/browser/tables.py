"""The laws of tables in a public plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ldprl.policies.tables import TableDistribution
from ldprl.shape import Shape


def laws_of(parts: Sequence[dict[str, Any]], shape: Shape) -> list[TableDistribution]:
    """Return the law of each part: its own, or that of the part which it names."""
    documents = [part["law"] for part in parts]
    return [
        TableDistribution.from_document(documents[law] if isinstance(law, int) else law, shape)
        for law in documents
    ]
