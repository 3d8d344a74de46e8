"""The built wheel, in an environment with nothing else, does what each extra alone promises."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REGRET = "ldprl regret --mdp random:2,2,2,3 --learner ldp-obi --epsilon 2 --episodes 100"
PROMISES = {
    "": ["python -c 'import ldprl.client; from ldprl import Laplace, Shape'"],
    "figures": [REGRET, "ldprl list mechanisms", "ldprl --help"],
    "simulation": [
        REGRET,
        "ldprl statement profile --epsilon 1",
        "ldprl list learners",
        "ldprl audit --mechanism laplace --samples 100",
        "ldprl bounds --states 2 --actions 2 --horizon 2 --episodes 1e6 --epsilon 1",
    ],
    "service": [
        "ldprl deployment init clinic.toml",
        "ldprl deployment check clinic.toml",
        "ldprl keys token",
        "ldprl serve --help",
    ],
    "relay": ["python -c 'import ldprl.protocol.sealing, cryptography'"],
    "gymnasium": [
        "python -c 'from ldprl import TabularMDP as M; M.from_gymnasium(\"FrozenLake-v1\", 5)'"
    ],
    "cluster": ["python -c 'import ldprl, ray'"],
}
"""What somebody who installed one extra may expect to work."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


@pytest.mark.slow
def test_studies_are_in_the_source_and_not_in_the_wheel(wheel: Path, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert "studies/__main__.py" in names
    with zipfile.ZipFile(wheel) as packed:
        assert not [name for name in packed.namelist() if name.startswith("studies")]
        assert "ldprl/paper.py" in packed.namelist()


@pytest.mark.slow
@pytest.mark.parametrize("extra", PROMISES)
def test_each_extra_alone(wheel: Path, tmp_path: Path, extra: str) -> None:
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [str(home / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", wanted]
    installed = subprocess.run(pip, check=False, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    for program, *arguments in map(shlex.split, PROMISES[extra]):
        done = subprocess.run(
            [str(home / "bin" / program), *arguments],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{program} {arguments}: {done.stderr}"
