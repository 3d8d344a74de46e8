"""The laws of tables in a public plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ldprl.shape import Shape
from ldprl.tables import TableLaw


def laws_of(parts: Sequence[dict[str, Any]], shape: Shape) -> list[TableLaw]:
    """Return the law of each part: its own, or that of the part which it names."""
    documents = [part["law"] for part in parts]
    return [
        TableLaw.from_document(documents[law] if isinstance(law, int) else law, shape)
        for law in documents
    ]
