"""Files compressed by xz, of which a single changed bit is noticed.

Its format has a checksum over each of its parts: here SHA-256 over the content.
"""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

from ldprl.errors import InputError

_PRESET = 1
"""A third of the time of the next one; ids are random and no preset makes them shorter."""
_CHUNK = 2**20


def compress(source: Path, path: Path) -> None:
    """Write the content of ``source`` to ``path``, compressed."""
    with (
        source.open("rb") as content,
        lzma.open(path, "wb", check=lzma.CHECK_SHA256, preset=_PRESET) as packed,
    ):
        shutil.copyfileobj(content, packed, _CHUNK)


def decompress(source: Path, path: Path) -> None:
    """Write what :func:`compress` made of a file to ``path``; refuse a file that was changed."""
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    try:
        with source.open("rb") as packed, path.open("wb") as content:
            while not unpacker.eof:
                more = packed.read(_CHUNK) if unpacker.needs_input else b""
                if unpacker.needs_input and not more:
                    raise lzma.LZMAError("it is cut short")
                content.write(unpacker.decompress(more, _CHUNK))
            if unpacker.check != lzma.CHECK_SHA256:
                raise lzma.LZMAError("it has no SHA-256")
            if unpacker.unused_data or packed.read(1):
                raise lzma.LZMAError("something follows its end")
    except lzma.LZMAError as error:
        raise InputError("file", str(source), f"a whole backup ({error})") from None
