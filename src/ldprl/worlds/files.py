"""MDPs in files: JSON, or arrays of numpy's in an .npz archive. Sizes are checked before data."""

from __future__ import annotations

import contextlib
import json
import os
import reprlib
import zipfile
import zlib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from ldprl.errors import InputError, one_of

FIELDS = ("horizon", "transitions", "rewards", "initial", "reward_kind")
REQUIRED = ("horizon", "transitions", "rewards")
LONGEST_HORIZON = 10_000
"""Steps that an MDP from a file may have: every step is planned, and has a row in every policy."""
MOST_NUMBERS = 2**26
"""Numbers that an MDP from a file may have: 512 MiB as floats, five times what 716 states with 25
actions take."""
LARGEST_JSON = 2**30
"""Bytes that a JSON file may have: its numbers take several times as much memory."""
_LARGEST_ITEM = 64
"""Bytes of an entry: ``reward_kind`` is a word of at most 16 letters."""
_ZIP = b"PK\x03\x04"
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read(path: str | Path) -> dict[str, Any]:
    """Return the fields of the MDP in a file; what is in the file decides how it is read."""
    with _opened("MDP file", path, "JSON or .npz") as file:
        if file.read(len(_ZIP)) != _ZIP:
            return _checked(_parsed("MDP file", path, file))
        file.seek(0)
        return _from_archive(file, str(path))


def from_json(text: str) -> dict[str, Any]:
    """Return the fields of an MDP in JSON."""
    return _checked(_document(text))


@contextlib.contextmanager
def _opened(field: str, path: str | Path, kinds: str) -> Iterator[IO[bytes]]:
    try:
        with open(path, "rb") as file:
            yield file
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(field, str(path), f"a readable {kinds} file ({reason})") from None


def _parsed(field: str, path: str | Path, file: IO[bytes]) -> Any:
    if os.fstat(file.fileno()).st_size > LARGEST_JSON:
        expected = f"at most {LARGEST_JSON:,} bytes of JSON; larger MDPs as .npz"
        raise InputError(field, str(path), expected)
    file.seek(0)
    return _document(file.read().decode("utf-8"))


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise InputError("JSON", text[:40], f"a JSON document ({reason})") from None
    except (ValueError, RecursionError) as error:  # absurdly long numbers, absurdly deep lists
        raise InputError("JSON", text[:40], f"a JSON document ({error})") from None


def _checked(fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict):
        expected = "an object with horizon, transitions and rewards"
        raise InputError("JSON", reprlib.repr(fields), expected)
    _check_names("JSON", list(fields), (*FIELDS, "structure"))
    for name in ("transitions", "rewards"):
        with contextlib.suppress(TypeError, ValueError):  # TabularMDP says what is wrong with it
            fields[name] = np.asarray(fields[name])
    return _bounded(fields)


def _from_archive(file: IO[bytes], path: str) -> dict[str, Any]:
    """Read the arrays of an .npz archive: plain numbers only, and never more than it declares."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [info.filename.removesuffix(".npy") for info in archive.infolist()]
            _check_names("npz", names, FIELDS)
            if len(set(names)) < len(names):
                raise InputError("npz", sorted(names), "each array once")
            fields: dict[str, Any] = {}
            for name, info in zip(names, archive.infolist(), strict=True):
                read_before = sum(np.size(array) for array in fields.values())
                fields[name] = _array(archive, info, name, MOST_NUMBERS - read_before)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # Damaged; or compressed in an unknown way; or encrypted.
        raise InputError("MDP file", path, f"a readable .npz archive ({error})") from None
    for name, expected in (("horizon", "a whole number"), ("reward_kind", "a word")):
        if name in fields:
            if fields[name].ndim:
                raise InputError(name, f"an array of shape {fields[name].shape}", expected)
            fields[name] = fields[name].item()
    return _bounded(fields)


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, most: int) -> Any:
    """Read one array, if its header, its declared size and the bound agree."""
    with archive.open(info) as member:
        try:
            read_header = _HEADERS[np.lib.format.read_magic(member)]
            shape, by_columns, dtype = read_header(member)
        except (KeyError, ValueError):
            raise InputError(name, info.filename, "an array as numpy.savez writes it") from None
        if dtype.kind not in ("U" if name == "reward_kind" else "biuf"):
            raise InputError(name, f"an array of {dtype}", "an array of numbers")
        if prod(shape) > most or dtype.itemsize > _LARGEST_ITEM:
            expected = f"at most {MOST_NUMBERS:,} numbers in all"
            raise InputError(name, f"an array of shape {shape}", expected)
        size = prod(shape) * dtype.itemsize
        if info.file_size - member.tell() != size:
            raise InputError(name, f"{info.file_size} bytes", f"an array of shape {shape}")
        flat = np.frombuffer(member.read(size), dtype=dtype)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _check_names(kind: str, names: list[str], known: tuple[str, ...]) -> None:
    for name in names:
        one_of(f"{kind} field", name, known)
    for name in REQUIRED:
        if name not in names:
            raise InputError(kind, sorted(names), f"the field {name!r}")


def _bounded(fields: dict[str, Any]) -> dict[str, Any]:
    """Refuse an MDP that grows too large once each step has its own transitions."""
    horizon = fields["horizon"]
    if isinstance(horizon, int) and horizon > LONGEST_HORIZON:
        raise InputError("horizon", horizon, f"at most {LONGEST_HORIZON} steps")
    moves, rewards = (getattr(fields[name], "shape", ()) for name in ("transitions", "rewards"))
    by_step = len(moves) == 3 and len(rewards) == 3 and isinstance(horizon, int)
    if prod(moves) * (horizon if by_step else 1) > MOST_NUMBERS:
        expected = f"at most {MOST_NUMBERS:,} numbers over all steps"
        raise InputError("transitions.shape", moves, expected)
    return fields
