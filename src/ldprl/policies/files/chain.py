"""A network as other programs have it: dense layers one after the other, with activations."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ldprl.errors import InputError
from ldprl.shape import FloatArray

MOST_BYTES = 2**26
"""Of a file: far above any policy of at most 100,000 parameters."""


@dataclass(frozen=True)
class Dense:
    """weight · x + bias, with ``weight`` of shape (outputs, inputs)."""

    weight: FloatArray
    bias: FloatArray


@dataclass
class Chain:
    """Layers, and the activation behind each; ``None``: the file does not say."""

    layers: list[Dense] = field(default_factory=list)
    activations: list[str] | None = None

    @property
    def widths(self) -> tuple[int, ...]:
        """How many inputs, hidden units and outputs there are."""
        return (self.layers[0].weight.shape[1], *(len(layer.bias) for layer in self.layers))

    @property
    def fits(self) -> bool:
        """Whether each layer takes what the one before it makes."""
        taken = tuple(layer.weight.shape[1] for layer in self.layers)
        return taken == self.widths[:-1]


def content_of(path: Path) -> bytes:
    """Return what a file holds, or refuse it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError("start", path.name, f"a file of at most {MOST_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InputError("start", str(path), f"a file to read ({error.strerror})") from None
