"""A damaged database is refused at the start in one line."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ldprl.errors import InputError
from ldprl.service.run import _open
from ldprl.service.settings import ServiceSettings

from .conftest import DEPLOYMENT
from .server import launch
from .test_database import deployment, opened, reports
from .test_schema import execute


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM plans", "is lost or foreign"),
        ("DELETE FROM plans WHERE version = 1", "the plans [2]"),
        ("DELETE FROM sums WHERE version = 2", "version 2, assignment 0, is lost"),
        ("UPDATE plans SET assignments = '[{'", "version 1 cannot be read"),
        ("UPDATE plans SET assignments = '[]'", "version 1 cannot be read"),
        ("UPDATE plans SET assignments = '[{\"share\": 1}]'", "version 1 cannot be read"),
        (f"UPDATE plans SET assignments = '{'[' * 50_000}'", "version 1 cannot be read"),
    ],
)
def test_what_is_damaged_is_named(database: str, damage: str, said: str) -> None:
    service = opened(database)
    service.database.want_plan(1)
    service.planner.step()
    service.database.commit(reports(service, 0, 3), {})
    service.database.close()
    execute(database, damage)
    with pytest.raises(InputError) as caught:
        _open(ServiceSettings(deployment(), database))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(4))
def test_garbage_in_the_files_pages_is_refused_or_does_no_harm(tmp_path: Path, seed: int) -> None:
    """Random bytes over half of the pages: one line and exit code 2, never a traceback."""
    path = tmp_path / "a.sqlite"
    service = opened(f"sqlite:///{path}")
    service.database.commit(reports(service, 0, 3000), {})
    service.database.close()
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    for page in range(0 if seed == 0 else 1, len(content) // 4096):
        if rng.random() < 0.5:
            content[4096 * page : 4096 * (page + 1)] = rng.randbytes(4096)
    path.write_bytes(content)
    with pytest.raises(InputError, match="database"):
        _open(ServiceSettings(deployment(), f"sqlite:///{path}"))


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    path, file = tmp_path / "a.sqlite", tmp_path / "deployment.toml"
    path.write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    file.write_text(DEPLOYMENT, encoding="utf-8")
    options = ("--deployment", str(file), "--database", f"sqlite:///{path}", "--port", "0")
    process, log = launch(*options)
    assert process.wait(60) == 2
    (line,) = log.text().splitlines()
    assert line.startswith("error: database = ")
