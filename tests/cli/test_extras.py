"""A missing package is named with the extra that brings it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.service.server import environment

_BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Block())
sys.argv = ["ldprl", *{arguments}]
from ldprl.cli import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "blocked", "extra"),
    [
        (["serve", "--port", "0"], {"numba"}, "service"),
        (["serve", "--port", "0"], {"typer"}, "service"),
        (["serve", "--port", "0"], {"uvicorn"}, "service"),
        (["serve", "--port", "0"], {"msgspec"}, "service"),
        (["keys", "token"], {"typer"}, "service"),
        (["regret", "--help"], {"typer"}, "simulation"),
    ],
)
def test_the_right_extra_is_named(arguments: list[str], blocked: set[str], extra: str) -> None:
    program = _BLOCKED.format(blocked=blocked, arguments=arguments)
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert f"pip install 'ldprl[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1
