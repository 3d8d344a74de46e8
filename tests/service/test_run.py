"""What is wrong at the start is said in one line, with exit code 2."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ldprl.cli.app import app
from ldprl.service.settings import ServiceSettings
from ldprl.service.tokens import token_hash

from .conftest import DEPLOYMENT, StartServer
from .server import environment


def refused(folder: Path, *options: str, deployment: str = DEPLOYMENT) -> str:
    file = folder / "deployment.toml"
    file.write_text(deployment, encoding="utf-8")
    database = f"sqlite:///{folder}/a.sqlite"
    line = ["serve", "--deployment", str(file), "--database", database, "--port", "0", *options]
    ended = CliRunner().invoke(app, line)
    assert (ended.exit_code, ended.stdout) == (2, "")
    *logged, said = ended.stderr.splitlines()
    assert said.startswith("error: ")
    assert all(" WARNING " in line or " INFO compiling" in line for line in logged)
    return said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "TOML"),
        (DEPLOYMENT + "sttes = 3", "'states'"),
        (DEPLOYMENT + 'mechanism = "none"', "mechanism"),
        (DEPLOYMENT.replace('"0.5"', '"-1"'), "epsilon"),
        (DEPLOYMENT.replace("states = 3", "states = 1_000_000_000"), "states"),
        (DEPLOYMENT.replace("states = 3", "states = 1e9"), "states"),
        (DEPLOYMENT.replace("horizon = 3", "horizon = 100_000"), "horizon"),
        (DEPLOYMENT + "labels = " + "[" * 50_000, "nested"),
        (DEPLOYMENT + "#" + "x" * 2**22, "bytes"),
        (DEPLOYMENT.replace("ldp-obi", "ldp-psrl"), "learner"),
    ],
)
def test_a_bad_deployment(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, deployment=text)


def test_a_relays_key_is_asked_for_before_a_database_is_made(tmp_path: Path) -> None:
    """The database would hold this deployment from then on, though its key may be the mistake."""
    shuffle = f'crowd = 10000\ncentral_epsilon = "0.5"\ndelta = "1e-6"\nkey = "{"11" * 32}"\n'
    relayed = f"{DEPLOYMENT}\n[shuffle]\n{shuffle}"
    assert "--private-key is missing" in refused(tmp_path, deployment=relayed)
    other, one = tmp_path / "other.key", "ab" * 32
    other.write_text(one)
    keys = ("--private-key", str(other), "--relay-token-hash", one)
    assert "the private half of shuffle.key" in refused(tmp_path, *keys, deployment=relayed)
    assert not (tmp_path / "a.sqlite").exists()


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "in use" in refused(tmp_path, "--port", port)


def test_a_database_that_cannot_be_reached(tmp_path: Path) -> None:
    url = "postgresql://someone:hunter2@127.0.0.1:1/x"
    line = refused(tmp_path, "--database", url, "--database-wait", "0")
    assert "one that responds" in line
    assert "hunter2" not in line


def test_several_workers_on_sqlite(tmp_path: Path) -> None:
    assert "--database postgresql://" in refused(tmp_path, "--workers", "2")


def test_a_token_is_shown_with_the_hash_that_knows_it() -> None:
    line = [sys.executable, "-m", "ldprl", "keys", "token", "--json"]
    shown = subprocess.run(line, env=environment(), capture_output=True, check=True)
    made = json.loads(shown.stdout)
    assert token_hash(made["token"]) == made["hash"]


def test_a_changed_deployment(start_server: StartServer, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/kept.sqlite"
    start_server(DEPLOYMENT, database).stop()
    changed = DEPLOYMENT.replace('"0.5"', '"0.7"')
    line = refused(tmp_path, "--database", database, deployment=changed)
    assert re.search("epsilon = '0.7': expected '0.5'.*frozen", line)


@pytest.mark.parametrize(("users", "code"), [("80", 0), ("-1", 2), ("soon", 2)])
def test_users_to_forget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users: str, code: int
) -> None:
    started: list[ServiceSettings] = []
    monkeypatch.setattr("ldprl.service.run.serve", lambda found, *_, **__: started.append(found))
    file = tmp_path / "deployment.toml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    line = ["serve", "--deployment", str(file), "--forget-before", users]
    ended = CliRunner().invoke(app, line)
    assert ended.exit_code == code, ended.output
    assert [one.forget_before for one in started] == ([80] if code == 0 else [])
    assert code == 0 or f"forget_before = {users}" in ended.output.replace("'", "")
