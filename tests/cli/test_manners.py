"""Manners: a map for help, JSON for programs, no colours in files, one line for an error."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import typer

import ldprl
from ldprl.cli.app import app

from .conftest import Run, below_and_itself

GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = {
    " ".join(filter(None, (name, below))): command
    for name, named in GROUP.commands.items()
    for below, command in below_and_itself(named).items()
}
"""Every command under all the words that call it, such as ``deployment init``."""
PLAIN = {
    name: value
    for name, value in os.environ.items()
    if name not in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")
} | {"PYTHONPATH": str(Path(ldprl.__file__).parents[1]), "TERM": "xterm-256color"}
LDPRL = [sys.executable, "-m", "ldprl"]
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d|10\d)[;m]")


def test_help_is_a_map(run: Run) -> None:
    shown = run("--help").out
    panels = re.findall(r"^╭─ (.+?) ─", shown, flags=re.MULTILINE)
    order = ["Options", "Decide", "Simulate and compute", "Check the privacy", "Serve"]
    assert panels == [panel for panel in [*order, "What there is"] if panel in panels]
    assert "Commands" not in panels  # where a command without a panel would end up
    for name in GROUP.commands:
        assert re.search(rf"^│ {name} ", shown, flags=re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_ends_with_an_example_of_itself(run: Run, name: str) -> None:
    shown = run(f"{name} --help").out
    _, example = shown.split("Example: ldprl ")
    words = example.split()
    assert example.startswith(f"{name} ") or example.strip() == name
    known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
    required = {max(p.opts) for p in COMMANDS[name].params if p.required and "--" in p.opts[0]}
    assert required <= set(words)


# These two have no result: they run until they are stopped.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("serve", "relay")])
def test_every_command_that_has_a_result_can_speak_json(name: str) -> None:
    assert "--json" in {option for parameter in COMMANDS[name].params for option in parameter.opts}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("regrett", "No such command 'regrett'. Did you mean 'regret'? (see ldprl --help)"),
        ("regret --epsilom 2", "--epsilon) (see ldprl regret --help)"),
        ("regret", "Missing option '--episodes' (see ldprl regret --help)"),
        ("statement --states", "an argument (see ldprl statement --help)"),
        ("bounds --states", "Option '--states' requires an argument (see ldprl bounds --help)"),
        ("statement crowd --epsilom 2", "(see ldprl statement crowd --help)"),
        ("keys new", "No such command 'new' (see ldprl keys --help)"),
        ("list learners all", "(all) (see ldprl list --help)"),
    ],
)
def test_what_cannot_be_parsed_is_one_line_with_the_way_out(run: Run, line: str, said: str) -> None:
    outcome = run(line)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")
    assert outcome.err.endswith(f"{said}\n")
    assert outcome.err.count("\n") == 1


def test_a_missing_package_is_named_with_its_extra(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    outcome = run("regret --mdp gym:FrozenLake-v1,5 --epsilon 1 --episodes 10")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == ("error: gymnasium is not installed: pip install 'ldprl[gymnasium]'\n")


def in_terminal(line: str, **environment: str) -> tuple[str, str]:
    """Run with stdout as asked and a terminal for stderr; return what each received."""
    terminal, theirs = pty.openpty()
    # Read while it runs: a terminal that nobody reads takes a few thousand bytes, and no more.
    with ThreadPoolExecutor(1) as reader:
        seen = reader.submit(read_all, terminal)
        try:
            done = subprocess.run(
                [*LDPRL, *line.split()],
                env=PLAIN | environment,
                stdout=subprocess.PIPE if environment.get("PIPED") else theirs,
                stderr=theirs,
                check=False,
                timeout=600,
            )
        finally:
            os.close(theirs)
    os.close(terminal)
    return (done.stdout or b"").decode(), seen.result().decode()


def read_all(terminal: int) -> bytes:
    """Return everything that is written to a terminal until nobody has it open for writing."""
    seen = b""
    with contextlib.suppress(OSError):  # how Linux says that nobody writes to it any more
        while more := os.read(terminal, 65536):
            seen += more
    return seen


def test_colours_are_for_terminals() -> None:
    for line in ("--help", "list mechanisms", "regrte"):
        piped = subprocess.run([*LDPRL, *line.split()], env=PLAIN, capture_output=True, check=False)
        assert b"\x1b" not in piped.stdout + piped.stderr
    assert COLOUR.search(in_terminal("--help")[1])
    assert not COLOUR.search(in_terminal("--help", NO_COLOR="1")[1])


def test_progress_goes_to_stderr_and_json_stays_pure() -> None:
    pair = "--learner ldp-obi --mechanism laplace"
    line = f"regret --mdp random:2,2,2,3 {pair} --epsilon 2 --episodes 1e4 --json"
    out, seen = in_terminal(line, PIPED="1")
    assert json.loads(out)["episodes"] == 10**4
    assert "compiling ldp-obi with laplace" in seen


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to complete in")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("re", {"regret", "relay", "reproduce"}),
        ("regret --ep", {"--epsilon", "--episodes", "--episode-days"}),
        ("regret --learner ldp-p", {"ldp-psrl"}),
        ("audit --mechanism g", {"gaussian"}),
        ("bounds --constants ", {"sound", "paper"}),
    ],
)
def test_bash_completes(installed: dict[str, str], typed: str, offered: set[str]) -> None:
    words = ["ldprl", *typed.split(" ")]
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f". ~/.bashrc; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        '_ldprl_completion ldprl; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    shown = subprocess.run(
        ["bash", "-c", script], env=installed, capture_output=True, text=True, check=True
    )
    assert set(shown.stdout.split()) == offered


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install completion into an empty home, as its owner would."""
    home = tmp_path_factory.mktemp("home")
    command = home / "bin" / "ldprl"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ldprl "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = PLAIN | {"HOME": str(home), "PATH": f"{command.parent}:{os.environ['PATH']}"}
    subprocess.run(
        ["bash", "-c", "ldprl --install-completion; exit $?"], env=environment, check=True
    )
    return environment


@pytest.mark.slow
def test_where_results_went_can_be_read_by_programs(run: Run, tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(
        'environments = ["random:2,2,2,0"]\nlearners = ["ucb-vi"]\nepisodes = 10\n',
        encoding="utf-8",
    )
    ran = run(f"run {grid} --out {tmp_path / 'out'} --workers 1 --json")
    assert Path(ran.json["results"]).is_file()
    made = run(f"reproduce table-1 --out {tmp_path / 'figures'} --workers 1 --json")
    assert Path(made.json["report"]).is_file()
