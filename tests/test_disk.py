"""Files are read within a bound, and replaced whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ldprl import InputError
from ldprl.disk import read_json, read_text, replacing


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "a readable TOML file (No such file or directory)"),
        (b"\xff\xfe", "a readable TOML file ('utf-8'"),
        (b"12345", "a TOML file of at most 4 bytes"),
    ],
)
def test_a_file_that_is_no_text_within_bounds(
    tmp_path: Path, content: bytes | None, expected: str
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_text("grid", path, "TOML", 4)
    assert (refused.value.field, refused.value.value) == ("grid", str(path))
    assert refused.value.expected.startswith(expected)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_a_file_that_is_no_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="a file of valid JSON"):
        read_json("known", path)


def _failing() -> Iterator[bytes]:
    yield b"new"
    raise ValueError("not written")


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as file:
        file.write(b"old")
    with pytest.raises(ValueError, match="not written"), replacing(path) as file:
        file.writelines(_failing())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
