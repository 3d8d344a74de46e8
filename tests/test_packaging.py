"""The project's metadata agrees with itself."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import ldprl

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINNED = set(re.findall(r"^([\w-]+)==\S+ \\$", LOCK, flags=re.MULTILINE))


def name_of(requirement: str) -> str:
    return re.split(r"[\[><=!~ ]", requirement)[0].lower()


def test_the_users_side_needs_numpy_alone() -> None:
    assert [name_of(requirement) for requirement in PROJECT["dependencies"]] == ["numpy"]


def test_lock_pins_all_that_tests_need() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = {name_of(item) for item in extras["dev"] + extras["simulation"]} - {"ldprl"}
    assert wanted <= PINNED


def test_lock_names_no_host_and_no_path() -> None:
    pin, digest = r"[\w-]+==[\w.+!]+ \\", r"    --hash=sha256:[0-9a-f]{64}(?: \\)?"
    strange = [line for line in LOCK.splitlines() if not re.fullmatch(f"{pin}|{digest}", line)]
    assert not strange


def test_citation_has_the_version_of_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {ldprl.__version__}\n" in citation
