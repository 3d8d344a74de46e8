"""Options that name a picture to write: checked before the work that it shows."""

from __future__ import annotations

from pathlib import Path

from ldprl.errors import InputError

_FORMATS = (".png", ".svg", ".pdf")


def check_picture(field: str, file: Path | None) -> None:
    """Refuse a file that could not be written as a picture."""
    if file is None:
        return
    if file.suffix not in _FORMATS:
        raise InputError(field, str(file), f"a file name that ends in {', '.join(_FORMATS)}")
    if not file.parent.is_dir():
        raise InputError(field, str(file), "a file in a folder that exists")
    if file.is_dir():
        raise InputError(field, str(file), "a file, not a folder")
