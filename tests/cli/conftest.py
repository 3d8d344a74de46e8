"""Runs the command as a shell would, without the price of a new process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import typer

from ldprl.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Run = Callable[..., Outcome]

# Reading the signatures of all commands takes ten times as long as running one of them.
command_group = cache(typer.main.get_command)


def below_and_itself(named: Any) -> dict[str, Any]:
    """Return the commands below a name, and under no word the one that the name itself calls."""
    itself = {"": named} if named.callback is not None else {}
    return itself | getattr(named, "commands", {})


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs ``ldprl`` with a line of arguments and more after it."""
    # Wide enough that no option or message is folded; no colour codes in what is compared.
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TERMINAL_WIDTH", "300")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("typer.main.get_command", command_group)

    def call(line: str, *more: str) -> Outcome:
        monkeypatch.setattr("sys.argv", ["ldprl", *line.split(), *more])
        with pytest.raises(SystemExit) as stopped:
            main()
        written = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Outcome(stopped.value.code, written.out, written.err)

    return call
