"""The project's metadata agrees with itself."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ldprl

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
DEMO_LOCK = (ROOT / "requirements-demo.lock").read_text(encoding="utf-8")
PIN = r"[\w-]+==[\w.+!]+ \\"
DIGEST = r"    --hash=sha256:[0-9a-f]{64}(?: \\)?"


def pins(lock: str) -> dict[str, str]:
    """Return the name of each locked package with its version and hashes."""
    return {block.split("==")[0]: block for block in re.split(r"\n(?=\w)", lock.strip())}


def name_of(requirement: str) -> str:
    return re.split(r"[\[><=!~ ]", requirement)[0].lower()


def test_the_users_side_needs_numpy_alone() -> None:
    assert [name_of(requirement) for requirement in PROJECT["dependencies"]] == ["numpy"]


def test_lock_pins_all_that_tests_need() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = {name_of(item) for item in extras["dev"] + extras["simulation"]} - {"ldprl"}
    assert wanted <= pins(LOCK).keys()


def test_the_demo_installs_what_it_runs_in_the_same_versions_as_the_tests() -> None:
    extras = PROJECT["optional-dependencies"]
    demo, everything = pins(DEMO_LOCK), pins(LOCK)
    assert {name_of(item) for item in extras["figures"] + extras["build"]} <= demo.keys()
    assert demo.items() < everything.items()
    assert not {"ray", "opendp", "playwright", "gymnasium"} & demo.keys()


@pytest.mark.parametrize("lock", [LOCK, DEMO_LOCK], ids=["all", "demo"])
def test_locks_name_no_host_and_no_path(lock: str) -> None:
    strange = [line for line in lock.splitlines() if not re.fullmatch(f"{PIN}|{DIGEST}", line)]
    assert not strange


def test_the_demo_runs_without_what_it_does_not_install(tmp_path: Path) -> None:
    """Simulate, store and draw in a process that finds none of the other packages."""
    absent = sorted(pins(LOCK).keys() - pins(DEMO_LOCK).keys())
    code = f"""
import importlib.metadata as metadata, sys
from pathlib import Path
absent, version = set({absent!r}), metadata.version
for module, owners in metadata.packages_distributions().items():
    if {{owner.lower().replace("_", "-") for owner in owners}} <= absent:
        sys.modules[module] = None
def found(name):
    if name in absent:
        raise metadata.PackageNotFoundError(name)
    return version(name)
metadata.version = found
from ldprl.cli import main
from ldprl.figures.gallery import GALLERY
from ldprl.figures.cells import CellRunner
from ldprl.figures.settings import Settings
out = Path({str(tmp_path / "out")!r})
runner = CellRunner(Settings(episodes=50, runs=1), out / "data")
for name in GALLERY.chapters():
    for cell in GALLERY.named(name).cells(runner.settings)[:1]:
        runner._store.save(cell, cell.compute())
sys.argv = ["ldprl", "reproduce", "table-1", "--out", str(out)]
main()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "out" / "report.html").is_file()


def test_citation_has_the_version_of_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {ldprl.__version__}\n" in citation


def test_each_security_entry_of_the_changelog_has_a_row_in_the_table() -> None:
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)
    rows = re.findall(
        r"^\| .* \| (\S+) \| (?:high|medium|low) \| .+ \|$",
        (ROOT / "SECURITY.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for release in releases[1:]:
        found = re.search(r"^### Security$(.*?)(?=^### |\Z)", release, re.MULTILINE | re.DOTALL)
        entries = 0 if found is None else len(re.findall(r"^- ", found[1], re.MULTILINE))
        version = release.splitlines()[0].strip("[]").split("]")[0]
        assert rows.count("next" if version == "Unreleased" else version) == entries, version
