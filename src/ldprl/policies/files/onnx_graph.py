"""Writes an ONNX graph without the package: nodes one after the other, in protobuf."""

from __future__ import annotations

from ldprl.shape import Array

_FORMAT, _OPERATORS = 8, 17
"""Versions of the format and of its operators; 2022, read by every runtime since."""


class Graph:
    """A graph with one input, float64 numbers of shape (n, entries), and one output."""

    DOUBLE, _INT64 = 11, 7

    def __init__(self, name: str, entries: int) -> None:
        self._input = _value(name, self.DOUBLE, entries)
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def add(self, kind: str, *taken: str, **options: int) -> str:
        """Add a node, and return the name of its result."""
        name = f"{kind.lower()}_{len(self._nodes)}"
        parts = [_field(1, one) for one in taken] + [_field(2, name), _field(4, kind)]
        for option, number in options.items():
            # An attribute's name, its number, and the type of the number.
            written = _field(1, option) + _field(3, number) + _field(20, 2)
            parts.append(_field(5, written))
        self._nodes.append(b"".join(parts))
        return name

    def constant(self, numbers: Array) -> str:
        """Add an array of float64 or whole numbers, and return its name."""
        name = f"constant_{len(self._constants)}"
        dims = b"".join(_field(1, size) for size in numbers.shape)
        kind = self.DOUBLE if numbers.dtype.kind == "f" else self._INT64
        raw = numbers.astype("<f8" if kind == self.DOUBLE else "<i8").tobytes()
        self._constants.append(dims + _field(2, kind) + _field(8, name) + _field(9, raw))
        return name

    def content(self, result: str, width: int | None) -> bytes:
        """Return the file: ``result`` is its output, of ``width`` float64 or one whole number."""
        out = _value("action", self._INT64 if width is None else self.DOUBLE, width)
        nodes = [*self._nodes, _field(1, result) + _field(2, "action") + _field(4, "Identity")]
        graph = b"".join(_field(1, node) for node in nodes) + _field(2, "policy")
        graph += b"".join(_field(5, one) for one in self._constants)
        graph += _field(11, self._input) + _field(12, out)
        operators = _field(8, _field(1, "") + _field(2, _OPERATORS))
        return _field(1, _FORMAT) + _field(2, "ldprl") + _field(7, graph) + operators


def _value(name: str, kind: int, width: int | None) -> bytes:
    """Return a ValueInfoProto of shape (n, width), or (n,)."""
    dims = _field(1, _field(2, "n")) + (b"" if width is None else _field(1, _field(1, width)))
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, dims)))


def _field(number: int, value: int | str | bytes) -> bytes:
    """Return a field: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    content = bytearray()
    while value > 127:
        content.append(value & 127 | 128)
        value >>= 7
    content.append(value)
    return bytes(content)
