"""A deployment's file: written with comments, checked, known by its digest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ldprl.cli.deployment import TEMPLATE
from ldprl.protocol.deployment import Deployment

from .conftest import Run


@pytest.fixture
def file(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "clinic.toml"
    outcome = run(f"deployment init {path}")
    assert (outcome.code, path.read_text(encoding="utf-8")) == (0, TEMPLATE)
    return path


def test_what_is_written_is_a_deployment(run: Run, file: Path) -> None:
    expected = Deployment.from_toml(tomllib.loads(TEMPLATE))
    outcome = run(f"deployment check {file}")
    assert outcome.code == 0
    parts = ("4 states, 3 actions, 4 steps", "ε = 2 for", "after 100 reports", expected.digest)
    for line, part in zip(outcome.out.splitlines(), parts, strict=True):
        assert part in line
    assert run(f"deployment check {file} --json").json == {
        "digest": expected.digest,
        "deployment": expected.document,
    }
    assert run(f"deployment digest {file}").out == expected.digest + "\n"


def test_what_follows_from_the_length_of_a_step_is_said(run: Run, file: Path) -> None:
    text = file.read_text().replace("horizon = 4", "horizon = 14")
    file.write_text(text.replace("# report_window_hours = 168 ", "step_hours = 24"))
    said = run(f"deployment check {file}").out
    assert "14 steps of 24 h are 336 h: reports count until 504 h after" in said
    assert "a user who always takes part sends 26 a year, ε = 52\n" in said
    file.write_text(text.replace("# report_window_hours", "step_hours = 24\nreport_window_hours"))
    refused = run(f"deployment check {file}")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "at least 360: 14 steps of 24 h are 336 h, and a report has 24 h" in refused.err


def test_a_setting_in_a_comment_is_the_default() -> None:
    """Without the signs before them, the settings mean the same deployment."""
    uncommented = re.sub(r"^# (\w+ = )", r"\1", TEMPLATE, flags=re.MULTILINE)
    assert uncommented != TEMPLATE
    both = [Deployment.from_toml(tomllib.loads(text)) for text in (TEMPLATE, uncommented)]
    assert both[0] == both[1]
    settings = set(tomllib.loads(uncommented))
    unset = {"memory_users", "step_hours", "shuffle", "certificate", "structure"}
    fields = set(Deployment.__dataclass_fields__) - {"problem", "options"} - unset
    assert fields <= settings


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('epsilon = "2"', 'epsilon = "two"', "epsilon = 'two': expected a decimal number"),
        ("states = 4", "sttes = 4", "did you mean 'states'?"),
        ("horizon = 4", "", "horizon is missing"),
        ('"action 2"]', '"action 2"', "valid TOML"),
        ("horizon = 4", "horizon = 0", "horizon"),
        (', "action 2"', "", "labels.actions = '2 different': expected 3 different"),
        ("[labels]", "[certificate]\nconfidense = 1\n[labels]", "did you mean 'confidence'?"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    run: Run, file: Path, old: str, new: str, said: str
) -> None:
    file.write_text(TEMPLATE.replace(old, new, 1), encoding="utf-8")
    for command in ("check", "digest"):
        outcome = run(f"deployment {command} {file}")
        assert (outcome.code, outcome.out) == (2, "")
        (line,) = outcome.err.splitlines()
        assert line.startswith("error: ")
        assert said in line


def test_nothing_is_overwritten(run: Run, file: Path, tmp_path: Path) -> None:
    file.write_text("mine", encoding="utf-8")
    outcome = run(f"deployment init {file}")
    assert outcome.code == 2
    assert "does not exist yet" in outcome.err
    assert file.read_text(encoding="utf-8") == "mine"
    assert run(f"deployment init {tmp_path}/no/such/folder.toml").code == 2
    assert run(f"deployment check {tmp_path}/none.toml").code == 2


def test_check_warns_of_what_the_learner_does_not_use(run: Run, file: Path) -> None:
    known = "\n[structure]\nsuccessors = [[0], [1], [2], [3]]\n"
    file.write_text(TEMPLATE + known, encoding="utf-8")
    assert run(f"deployment check {file}").err == ""
    bits = TEMPLATE.replace('epsilon = "2"', 'epsilon = "2"\nlearner = "ldp-returns"')
    file.write_text(bits + known, encoding="utf-8")
    assert run(f"deployment check {file}").err == "warning: ldp-returns does not use: successors\n"


@pytest.mark.parametrize("certified", [True, False])
def test_certificates_use_the_incumbent(run: Run, file: Path, certified: bool) -> None:
    table = '[certificate]\nshare = "0.1"\nconfidence = "0.95"\n' if certified else ""
    stated = "[structure]\nincumbent = [0, 1, 2, 0]\n" + table
    named = TEMPLATE.replace('epsilon = "2"', 'epsilon = "2"\nlearner = "ldp-ts"')
    file.write_text(f"{named}\n{stated}", encoding="utf-8")
    expected = "" if certified else "warning: ldp-ts does not use: incumbent\n"
    assert run(f"deployment check {file}").err == expected
