"""Arrays of numpy's in .npz archives: plain numbers only, and never more than a file declares."""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Collection, Iterator
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from ldprl.errors import InputError, one_of

MOST_NUMBERS = 2**26
"""Numbers that a world from a file may have: 512 MiB as floats, five times what an MDP of 716
states with 25 actions takes."""
ZIP = b"PK\x03\x04"
"""How an archive starts."""
_LARGEST_ITEM = 64
"""Bytes of an entry: a word has at most 16 letters."""
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@contextlib.contextmanager
def opened(field: str, path: str | Path, kinds: str) -> Iterator[IO[bytes]]:
    """Open a file, or refuse it."""
    try:
        with open(path, "rb") as file:
            yield file
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(field, str(path), f"a readable {kinds} file ({reason})") from None


def arrays_in(
    field: str,
    file: IO[bytes],
    path: str,
    known: Collection[str],
    required: Collection[str],
    words: Collection[str] = (),
) -> dict[str, Any]:
    """Read the arrays of an archive by their names; those in ``words`` are single words."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [info.filename.removesuffix(".npy") for info in archive.infolist()]
            check_names("npz", names, known, required)
            if len(set(names)) < len(names):
                raise InputError("npz", sorted(names), "each array once")
            fields: dict[str, Any] = {}
            for name, info in zip(names, archive.infolist(), strict=True):
                read_before = sum(np.size(array) for array in fields.values())
                left = MOST_NUMBERS - read_before
                fields[name] = _array(archive, info, name, left, "U" if name in words else "biuf")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # Damaged; or compressed in an unknown way; or encrypted.
        raise InputError(field, path, f"a readable .npz archive ({error})") from None
    for name in words:
        if name in fields:
            fields[name] = single(name, fields[name], "a word")
    return fields


def single(name: str, array: Any, expected: str) -> Any:
    """Return the one entry of an array without axes, or refuse it."""
    if array.ndim:
        raise InputError(name, f"an array of shape {array.shape}", expected)
    return array.item()


def check_names(
    kind: str, names: Collection[str], known: Collection[str], required: Collection[str]
) -> None:
    """Refuse a field that is not known, and what lacks one that is required."""
    for name in names:
        one_of(f"{kind} field", name, known)
    for name in required:
        if name not in names:
            raise InputError(kind, sorted(names), f"the field {name!r}")


def _array(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, most: int, kinds: str
) -> Any:
    """Read one array, if its header, its declared size and the bound agree."""
    with archive.open(info) as member:
        try:
            read_header = _HEADERS[np.lib.format.read_magic(member)]
            shape, by_columns, dtype = read_header(member)
        except (KeyError, ValueError):
            raise InputError(name, info.filename, "an array as numpy.savez writes it") from None
        if dtype.kind not in kinds:
            raise InputError(name, f"an array of {dtype}", "an array of numbers")
        if prod(shape) > most or dtype.itemsize > _LARGEST_ITEM:
            expected = f"at most {MOST_NUMBERS:,} numbers in all"
            raise InputError(name, f"an array of shape {shape}", expected)
        size = prod(shape) * dtype.itemsize
        if info.file_size - member.tell() != size:
            raise InputError(name, f"{info.file_size} bytes", f"an array of shape {shape}")
        flat = np.frombuffer(member.read(size), dtype=dtype)
    return flat.reshape(shape, order="F" if by_columns else "C")
