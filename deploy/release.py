"""What a release consists of, the same bytes from the same commit.

``python deploy/release.py`` exports the commit that is checked out, and leaves in ``dist`` the
wheel, the browser client as an npm package, a bill of materials for each lock, and ``SHA256SUMS``.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCKS = {"service": "deploy/service.lock", "development": "requirements.lock"}
"""What the image runs, and what tests and figures need: a bill of materials for each."""
EPOCH = 1_580_601_600
"""Every file in a package has this date, 2020-02-02, whenever it was built."""
_PIN = re.compile(r"^([a-z0-9-]+)==(\S+)((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def release(source: Path, out: Path) -> list[Path]:
    """Build everything from a tree of the repository into ``out``; return the files."""
    out.mkdir(parents=True, exist_ok=True)
    packages, number = (wheel(source, out), bundle(source, out)), version(source)
    built = [*packages]
    for name, lock in LOCKS.items():
        bill = out / f"ldprl-{number}.{name}.cdx.json"
        text = bill_of_materials(number, (source / lock).read_text(encoding="utf-8"), *packages)
        bill.write_text(text, encoding="utf-8")
        built.append(bill)
    sums = out / "SHA256SUMS"
    sums.write_text("".join(f"{digest(file)}  {file.name}\n" for file in built), encoding="utf-8")
    return [*built, sums]


def wheel(source: Path, out: Path) -> Path:
    """Build the wheel; hatchling sorts its files, and dates them by SOURCE_DATE_EPOCH."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)}
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out.resolve())]
    subprocess.run(build, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)
    (built,) = out.glob("*.whl")
    return built


def bundle(source: Path, out: Path) -> Path:
    """Pack the browser client as npm does, with sorted files that nobody owns."""
    home = source / "clients" / "js"
    package = json.loads((home / "package.json").read_text(encoding="utf-8"))
    named = [home / name for name in (*package["files"], "package.json", "README.md")]
    files = [file for one in named for file in ([one] if one.is_file() else one.rglob("*.js"))]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(files):
            content = file.read_bytes()
            entry = tarfile.TarInfo(f"package/{file.relative_to(home).as_posix()}")
            entry.size, entry.mtime, entry.mode = len(content), EPOCH, 0o644
            archive.addfile(entry, io.BytesIO(content))
    built = out / f"ldprl-{package['version']}.tgz"
    built.write_bytes(gzip.compress(packed.getvalue(), mtime=EPOCH))
    return built


def bill_of_materials(number: str, lock: str, packages: Path, browser: Path) -> str:
    """Return CycloneDX 1.6 in JSON: each pinned package, and what was built.

    A package has the hash of each file that the lock admits. There is no time in it, and its
    serial number follows from its content.
    """
    pins = _PIN.findall(lock)
    if len(pins) != len(re.findall(r"^\S", lock, re.MULTILINE)):
        raise SystemExit("error: a line of the lock is no pin with hashes")
    components = [
        _component("library", f"pkg:pypi/{name}@{pinned}", re.findall(r"sha256:(\w+)", hashes))
        for name, pinned, hashes in pins
    ]
    document: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                **_component("application", f"pkg:pypi/ldprl@{number}", [digest(packages)]),
                "components": [_component("library", f"pkg:npm/ldprl@{number}", [digest(browser)])],
            }
        },
        "components": components,
    }
    content = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}"
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _component(kind: str, purl: str, hashes: list[str]) -> dict[str, Any]:
    name, number = purl.rsplit("/", 1)[1].split("@")
    return {
        "type": kind,
        "bom-ref": purl,
        "purl": purl,
        "name": name,
        "version": number,
        "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
    }


def version(source: Path) -> str:
    """Return the version that the package says it has."""
    text = (source / "src" / "ldprl" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found
    return found[1]


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main() -> None:
    """Build a release of the commit that is checked out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, help="a tree to build from, as it is [the commit]")
    parser.add_argument("--out", type=Path, default=Path("dist"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = given.source
        if source is None:
            # Nothing that is not committed gets in.
            source = Path(folder)
            tree = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, stdout=-1)
            with tarfile.open(fileobj=io.BytesIO(tree.stdout)) as archive:
                archive.extractall(source, filter="data")
        for file in release(source, given.out):
            print(f"{digest(file)}  {file}")


if __name__ == "__main__":
    main()
