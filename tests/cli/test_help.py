"""The command explains itself, starts fast, and leaves quietly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ldprl
from ldprl.catalogue import LEARNERS
from ldprl.cli.group import OLD_NAMES
from ldprl.mechanisms.by_name import MECHANISMS

from .conftest import Run

COMMANDS = (
    "regret",
    "bounds",
    "audit",
    "statement",
    "statement profile",
    "statement crowd",
    "list",
)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(ldprl.__file__).parents[1])}


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )


def test_help_names_every_command(run: Run) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    for command in COMMANDS:
        assert command.split()[0] in outcome.out
    assert not [name for name in OLD_NAMES if f"│ {name} " in outcome.out]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_that_runs(run: Run, command: str) -> None:
    shown = run(f"{command} --help").out
    _, example = shown.split("Example: ldprl ")
    line = " ".join(example.split()).replace("1e6", "1e3")
    assert line.startswith(command)
    assert run(line).code == 0


def test_version(run: Run) -> None:
    assert run("--version").out == f"ldprl {ldprl.__version__}\n"


def test_python_dash_m_is_the_same_command() -> None:
    line = [sys.executable, "-m", "ldprl", "--version"]
    shown = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert shown.stdout == f"ldprl {ldprl.__version__}\n"


@pytest.mark.parametrize(
    ("command", "known"), [("list mechanisms", MECHANISMS), ("list learners", LEARNERS)]
)
def test_lists_have_name_guarantee_and_summary(
    run: Run, command: str, known: dict[str, type]
) -> None:
    found = run(f"{command} --json").json
    assert [row["name"] for row in found] == list(known)
    shown = run(command).out
    for row in found:
        assert set(row) == {"name", "guarantee", "summary"}
        assert row["summary"] == known[row["name"]].summary  # type: ignore[attr-defined]
        assert row["name"] in shown
        assert row["guarantee"] in shown


def test_both_lists_are_under_their_names(run: Run) -> None:
    both = run("list --json").json
    assert both == {name: run(f"list {name} --json").json for name in ("learners", "mechanisms")}


OLD_LINES = {
    "admin-token": "--help",
    "amplify": "--epsilon 6.7 --crowd 1e5 --json",
    "backup": "new.backup --database sqlite:///no.sqlite",
    "keypair": "--out nowhere/key",
    "learners": "--json",
    "mechanisms": "",
    "plot": "nowhere --out picture.png",
    "profile": "--epsilon 1 --mechanism laplace --json",
    "restore": "no.backup --database sqlite:///new.sqlite",
    "show": "nowhere",
}


@pytest.mark.parametrize("old", OLD_LINES)
def test_an_old_name_does_the_same_and_names_the_new_one(run: Run, old: str) -> None:
    new = OLD_NAMES[old]
    before, after = run(f"{old} {OLD_LINES[old]}"), run(f"{new} {OLD_LINES[old]}")
    assert (before.code, before.out) == (after.code, after.out)
    assert before.err == f"warning: ldprl {old} is now ldprl {new}\n{after.err}"


def test_every_old_name_is_tried() -> None:
    assert set(OLD_LINES) == set(OLD_NAMES)


def test_a_group_alone_shows_its_help(run: Run) -> None:
    for group in ("deployment", "database", "keys"):
        outcome = run(group)
        assert (outcome.code, "Commands" in outcome.out + outcome.err) == (2, True)
        assert "error" not in outcome.err


def test_mechanisms_tell_pure_from_approximate(run: Run) -> None:
    levels = {row["name"]: row["guarantee"] for row in run("list mechanisms --json").json}
    assert levels == {
        "none": "none",
        "bits-and-moves": "ε",
        "laplace": "ε",
        "gaussian": "(ε, δ)",
        "randomized-response": "ε",
        "bounded-noise": "(ε, δ)",
        "shuffle": "ε",
        "subset-selection": "ε",
        "return-bits": "ε",
        "threshold-bits": "ε",
    }


def test_learners_say_which_one_to_start_with(run: Run) -> None:
    said = {row["name"]: row["summary"] for row in run("list learners --json").json}
    assert [name for name, summary in said.items() if "start with" in summary] == ["ldp-ts"]


def test_help_loads_no_numerics() -> None:
    code = (
        "import sys; sys.argv = ['ldprl', 'regret', '--help']\n"
        "from ldprl.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    assert python(code).returncode == 0


def test_help_starts_fast() -> None:
    """Counts modules, which a busy machine does not change: 400 of them load in 0.3 s."""
    code = (
        "import sys; sys.argv = ['ldprl', '--help']\n"
        "from ldprl.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(len(sys.modules), file=sys.stderr)"
    )
    assert int(python(code).stderr) < 400


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None\nfrom ldprl.cli import main\nmain()"
    outcome = python(code)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr == ("error: typer is not installed: pip install 'ldprl[simulation]'\n")


def test_an_interrupt_ends_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ldprl.simulation.engine.simulate", interrupted)
    outcome = run("regret --mdp random:2,2,2,3 --epsilon 2 --episodes 10")
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "")
