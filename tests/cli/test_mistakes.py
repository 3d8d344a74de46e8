"""Every command × every kind of mistake: one line that names the mistake, exit 2, no output.

Each mistake is made in a line that is otherwise good, and the error has to name it: an error about
anything else fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from ldprl.cli.app import app
from ldprl.cli.deployment import TEMPLATE

from .conftest import Run, below_and_itself

SIZES = "--states 2 --actions 2 --horizon 2"
GOOD = {
    "advise": f"{SIZES} --users 1e4 --epsilon 1",
    "regret": "--mdp random:2,2,2,3 --episodes 100 --epsilon 1",
    "bounds": f"{SIZES} --episodes 1e6 --epsilon 1",
    "run": "grid.toml --out new",
    "reproduce": "table-1 --out new",
    "audit": f"--mechanism laplace {SIZES} --epsilon 1 --samples 100",
    "statement crowd": "--epsilon 1 --crowd 1000 --delta 1e-6",
    "statement profile": f"{SIZES} --epsilon 1",
    "statement": f"--mechanism laplace {SIZES} --epsilon 1",
    "ledger": "reports.ledger",
    "certify": "export.json",
    "deployment init": "new.toml",
    "deployment check": "clinic.toml",
    "deployment digest": "clinic.toml",
    "serve": "--deployment clinic.toml --database sqlite:///new.sqlite --port 0",
    "relay": "--service http://127.0.0.1:9 --database new.sqlite --token secret",
    "keys pair": "--out new.key",
    "simulate-users": "http://127.0.0.1:9 --users 10",
    "database backup": "new.backup --database sqlite:///service.sqlite",
    "database restore": "old.backup --database sqlite:///new.sqlite",
    "keys token": "",
    "list": "learners",
    "conform": "--client client",
    "doctor": "",
}
"""A line for each command in which nothing is wrong (none of them is run)."""
IN_ENV = "--env CartPole-v1 --episodes 100 --epsilon 1"
INSTEAD = {
    **{
        ("regret", f"--{name}"): IN_ENV
        for name in ("env", "policy", "horizon", "return-range", "scale", "start")
    },
    **{
        ("advise", f"--{name}"): IN_ENV.replace("--episodes", "--users")
        for name in ("env", "policy", "return-range", "scale", "start")
    },
    ("statement", "--env"): "--epsilon 1",
    ("audit", "--env"): "--epsilon 1 --samples 100",
    ("regret", "--hidden"): f"{IN_ENV} --policy network",
    ("advise", "--hidden"): f"{IN_ENV.replace('--episodes', '--users')} --policy network",
    ("regret", "--curves"): f"{GOOD['regret']} --json",
    ("serve", "--demo"): "--database sqlite:///new.sqlite --port 0",
    ("audit", "--present"): f"{GOOD['audit']} --crowd 50",
    ("statement crowd", "--central-epsilon"): "--epsilon 1 --delta 1e-6",
    ("statement crowd", "--mechanism"): f"{GOOD['statement crowd']} {SIZES}",
}
"""The good line for an option that goes with others only."""
ASKS_FIRST = {("simulate-users", "--env")}
"""Read with the deployment's policy, which the service is asked for."""
NUMBERS = {"S", "A", "H", "K", "E", "D", "N", "I", "P", "C", "T", "L", "PORT", "GAP"}
NUMBERS |= {"ε,…", "N,…", "E[,D]", "LOW,HIGH", "X,…"}
NAMES = {"NAME", "[NAME…]", "[learners|mechanisms]", "sound|paper", "text|json", "each|growth:G"}
NAMES |= {"ENV", "linear|network|module:Class"}
WORLDS = {"WORLD", "MDP"}
FOLDERS = {"FOLDER"}
FILES = {"FILE", "FILE.png"}
EITHER = {"FILE.toml|FOLDER"}


@dataclass(frozen=True)
class Mistake:
    kind: str
    line: str
    named: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.line}"


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    return {
        " ".join(filter(None, (name, below))): command
        for name, named in group.commands.items()
        for below, command in below_and_itself(named).items()
    }


def mistakes(name: str, command: Any) -> Iterator[Mistake]:
    good = GOOD[name]
    line = f"{name} {good}".strip()
    yield Mistake("unknown option", f"{line} --no-such-option", "--no-such-option")
    yield Mistake("stray words", f"{line} stray", "stray")
    for parameter in command.params:
        option = max(parameter.opts, key=len)
        if not option.startswith("--"):
            yield from argument_mistakes(name, good, parameter)
            continue
        if parameter.is_flag:
            yield Mistake("value for a flag", f"{line} {option}=3", option)
            continue
        rest = without(INSTEAD.get((name, option), good), option)
        yield Mistake("no value", f"{name} {rest} {option}".replace("  ", " "), option)
        if parameter.required:
            yield Mistake("missing option", f"{name} {rest}", option)
        if parameter.metavar in NUMBERS:
            for word in ("twelve", "nan"):
                yield Mistake("no number", f"{name} {rest} {option} {word}", word)
        if parameter.metavar in NAMES | WORLDS and (name, option) not in ASKS_FIRST:
            yield Mistake("unknown name", f"{name} {rest} {option} no-such-name", "no-such-name")
        if parameter.metavar in WORLDS:
            yield Mistake("no such world", f"{name} {rest} {option} no.json", "no.json")
            yield Mistake("half a world", f"{name} {rest} {option} random:2,2", "random:2,2")
        if parameter.metavar == "URL":
            yield Mistake("no address", f"{name} {rest} {option} nowhere", "nowhere")
            yield Mistake("no port", f"{name} {rest} {option} http://127.0.0.1:99999", "99999")
        if parameter.metavar == "DIR":
            yield Mistake("file for a folder", f"{name} {rest} {option} grid.toml", "'grid.toml'")


def argument_mistakes(name: str, good: str, parameter: Any) -> Iterator[Mistake]:
    words = good.split()
    rest = " ".join(words[1:])
    if parameter.required:
        yield Mistake("missing argument", f"{name} {rest}", parameter.metavar)
    if parameter.metavar in FOLDERS:
        yield Mistake("no such folder", f"{name} nowhere {rest}", "'nowhere'")
        yield Mistake("file for a folder", f"{name} grid.toml {rest}", "'grid.toml'")
        yield Mistake("another's folder", f"{name} folder {rest}", "'folder'")
    if parameter.metavar in EITHER:
        yield Mistake("nothing there", f"{name} nowhere", "'nowhere'")
        yield Mistake("another's folder", f"{name} folder", "'folder'")
        yield Mistake("another's folder", f"{name} folder --plot", "'folder'")
        yield Mistake("file for a folder", f"{name} grid.toml --plot", "'grid.toml'")
        yield Mistake("no folder for results", f"{name} grid.toml", "--out")
        yield Mistake("nothing to run", f"{name} folder {rest}", "'new'")
        yield Mistake("nothing to run", f"{name} folder --workers 2", "workers = 2")
    if parameter.metavar in NAMES:
        yield Mistake("unknown name", f"{name} no-such-name {rest}", "no-such-name")
    if parameter.metavar == "URL":
        yield Mistake("no address", f"{name} nowhere {rest}", "nowhere")
    if parameter.metavar in FILES:
        yield Mistake("folder for a file", f"{name} folder {rest}", "'folder'")
        if not words[0].startswith("new"):
            yield Mistake("no such file", f"{name} nowhere {rest}", "'nowhere'")
        else:
            yield Mistake("no such folder", f"{name} nowhere/file {rest}", "'nowhere/file'")


def without(line: str, option: str) -> str:
    words = line.split()
    if option in words:
        place = words.index(option)
        del words[place : place + 2]
    return " ".join(words)


def test_no_command_is_left_out() -> None:
    assert set(GOOD) == set(commands())


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "clinic.toml").write_text(TEMPLATE, encoding="utf-8")
    (tmp_path / "grid.toml").write_text(
        'environments = ["random:2,2,2,0"]\nlearners = ["ucb-vi"]\nepisodes = 10\n',
        encoding="utf-8",
    )
    for name in ("LDPRL_DATABASE", "LDPRL_RELAY_TOKEN", "LDPRL_ADMIN_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "mistake",
    [
        mistake
        for name, command in commands().items()
        if name in GOOD
        for mistake in mistakes(name, command)
    ],
    ids=str,
)
def test_a_mistake_is_one_line(run: Run, workplace: Path, mistake: Mistake) -> None:
    before = sorted(workplace.rglob("*"))
    outcome = run(mistake.line)
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert outcome.err.count("\n") == 1, outcome.err
    assert outcome.err.startswith("error: ")
    assert mistake.named in outcome.err
    assert "None" not in outcome.err
    assert "\x1b" not in outcome.err
    assert sorted(workplace.rglob("*")) == before
