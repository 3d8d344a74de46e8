"""MDPs in files: JSON, or arrays of numpy's in an .npz archive. Sizes are checked before data."""

from __future__ import annotations

import contextlib
import json
import os
import reprlib
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from ldprl.errors import InputError
from ldprl.worlds.archives import MOST_NUMBERS, ZIP, arrays_in, check_names, opened, single

FIELDS = ("horizon", "transitions", "rewards", "initial", "reward_kind")
REQUIRED = ("horizon", "transitions", "rewards")
LONGEST_HORIZON = 10_000
"""Steps that an MDP from a file may have: every step is planned, and has a row in every policy."""
LARGEST_JSON = 2**30
"""Bytes that a JSON file may have: its numbers take several times as much memory."""


def read(path: str | Path) -> dict[str, Any]:
    """Return the fields of the MDP in a file; what is in the file decides how it is read."""
    with opened("MDP file", path, "JSON or .npz") as file:
        if file.read(len(ZIP)) != ZIP:
            return _checked(_parsed("MDP file", path, file))
        file.seek(0)
        return _from_archive(file, str(path))


def from_json(text: str) -> dict[str, Any]:
    """Return the fields of an MDP in JSON."""
    return _checked(_document(text, "JSON", text[:40]))


def _parsed(field: str, path: str | Path, file: IO[bytes]) -> Any:
    if os.fstat(file.fileno()).st_size > LARGEST_JSON:
        expected = f"at most {LARGEST_JSON:,} bytes of JSON; larger MDPs as .npz"
        raise InputError(field, str(path), expected)
    file.seek(0)
    return _document(file.read().decode("utf-8"), field, str(path))


def _document(text: str, field: str, value: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise InputError(field, value, f"a JSON document ({reason})") from None
    except (ValueError, RecursionError) as error:  # absurdly long numbers, absurdly deep lists
        raise InputError(field, value, f"a JSON document ({error})") from None


def _checked(fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict):
        expected = "an object with horizon, transitions and rewards"
        raise InputError("JSON", reprlib.repr(fields), expected)
    check_names("JSON", list(fields), (*FIELDS, "structure"), REQUIRED)
    for name in ("transitions", "rewards"):
        with contextlib.suppress(TypeError, ValueError):  # TabularMDP says what is wrong with it
            fields[name] = np.asarray(fields[name])
    return _bounded(fields)


def _from_archive(file: IO[bytes], path: str) -> dict[str, Any]:
    fields = arrays_in("MDP file", file, path, FIELDS, REQUIRED, words=("reward_kind",))
    fields["horizon"] = single("horizon", fields["horizon"], "a whole number")
    return _bounded(fields)


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
