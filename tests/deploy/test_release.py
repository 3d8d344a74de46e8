"""A release is the same bytes from the same files, and its bill of materials is the lock."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "deploy" / "release.py"
PARTS = ("src", "clients/js", "deploy", "pyproject.toml", "README.md", "LICENSE")
SUMS = "SHA256SUMS"
PLACES = r"(?<!no-emit-)(?:index-url|find-links)|extra-index|registry=|pypi\.|npmjs"


def copied(to: Path, modified: float) -> Path:
    """Copy what a release is built from, each file with this date."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / part, to / part, ignore=ignored)
        else:
            shutil.copy(ROOT / part, to / part)
    shutil.copy(ROOT / "requirements.lock", to)
    for file in to.rglob("*"):
        os.utime(file, (modified, modified))
    return to


def built(source: Path, out: Path, umask: int, **environment: str) -> dict[str, str]:
    """Return the hash of each file of a release."""
    command = [sys.executable, str(SCRIPT), "--source", str(source), "--out", str(out)]
    subprocess.run(command, env=os.environ | environment, umask=umask, check=True, stdout=-1)
    lines = (out / SUMS).read_text(encoding="utf-8").splitlines()
    return {name: found for found, name in (line.split("  ") for line in lines)}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    (folder / "tree").mkdir()
    built(copied(folder / "tree", 1e9), folder / "out", 0o022, TZ="UTC", PYTHONHASHSEED="1")
    return folder


def test_two_builds_of_the_same_files_are_the_same_bytes(first: Path, tmp_path: Path) -> None:
    """Elsewhere, later, with other rights, in another time zone; a changed letter shows."""
    before = (first / "out" / SUMS).read_text(encoding="utf-8")
    tree = copied(tmp_path / "a", 1.5e9)
    other = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"}
    again = built(tree, tmp_path / "again", 0o077, **other)
    assert [f"{found}  {name}" for name, found in again.items()] == before.splitlines()
    with (tree / "clients" / "js" / "src" / "errors.js").open("a", encoding="utf-8") as file:
        file.write("\n")
    changed = built(tree, tmp_path / "changed", 0o022)
    # The wheel has the browser client in it, and the bills of materials have both hashes.
    assert not set(changed.values()) & set(again.values())


def test_the_browser_client_is_packed_as_npm_does(first: Path) -> None:
    (packed,) = (first / "out").glob("*.tgz")
    with tarfile.open(packed) as archive:
        names = archive.getnames()
        assert {entry.uname + entry.gname for entry in archive.getmembers()} == {""}
    home = ROOT / "clients" / "js"
    sources = {f"package/{file.relative_to(home)}" for file in (home / "src").rglob("*.js")}
    rest = {f"package/{name}" for name in ("package.json", "README.md", "ldprl.js", "ldprl.d.ts")}
    assert names == sorted(names)
    assert set(names) == sources | rest


@pytest.mark.parametrize(
    ("name", "lock"), [("service", "deploy/service.lock"), ("development", "requirements.lock")]
)
def test_the_bill_of_materials_is_the_lock(first: Path, name: str, lock: str) -> None:
    (file,) = (first / "out").glob(f"*.{name}.cdx.json")
    text = file.read_text(encoding="utf-8")
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    pinned = (ROOT / lock).read_text(encoding="utf-8")
    wanted = {f"pkg:pypi/{found}" for found in re.findall(r"^(\S+==\S+)", pinned, re.MULTILINE)}
    assert {one["purl"].replace("@", "==") for one in bill["components"]} == wanted
    hashes = [one["content"] for part in bill["components"] for one in part["hashes"]]
    assert hashes == re.findall(r"sha256:(\w+)", pinned)
    sums = (first / "out" / SUMS).read_text(encoding="utf-8")
    ours = bill["metadata"]["component"]
    for part in (ours, *ours["components"]):
        assert part["hashes"][0]["content"] in sums
    # No index, no host, no path, and nothing that changes from build to build.
    assert "://" not in text
    assert "timestamp" not in text


def test_a_lock_with_a_line_that_is_no_pin_has_no_bill(first: Path, tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree", 1e9)
    with (tree / "deploy" / "service.lock").open("a", encoding="utf-8") as file:
        file.write("something @ file:///somewhere\n")
    with pytest.raises(subprocess.CalledProcessError):
        built(tree, tmp_path / "out", 0o022)


def test_nothing_that_builds_names_an_index() -> None:
    """Where packages come from is the machine's affair, by name and hash."""
    files = [ROOT / name for name in ("Makefile", "pyproject.toml", "clients/js/package.json")]
    files += [file for file in (ROOT / "deploy").rglob("*") if file.is_file()]
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not re.search(PLACES, text), file
