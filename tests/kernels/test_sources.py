"""The digest that compiled code is cached under."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldprl.kernels.sources import sources_digest


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose kernel imports a constant by way of another module."""
    files = {
        "kernels/sums.py": "from ldprl.rules.law import SCALE\n",
        "rules/law.py": "from ldprl.units import METRE\nSCALE = 2 * METRE\n",
        "rules/__init__.py": "",
        "units/__init__.py": "METRE = 1.0\n",
        "cli.py": "from ldprl.kernels.sums import SCALE\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("kernels/sums.py", True),
        ("rules/law.py", True),
        ("units/__init__.py", True),
        ("cli.py", False),
    ],
)
def test_it_covers_what_kernels_import_and_nothing_else(
    package: Path, name: str, counts: bool
) -> None:
    before = sources_digest(package)
    assert sources_digest(package) == before
    with (package / name).open("a") as file:
        file.write("# changed\n")
    assert (sources_digest(package) != before) is counts
