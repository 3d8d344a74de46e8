"""``ldprl certify``: a table and a sentence, or one line that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ldprl.cli.certify import change, verdict

from .conftest import Run


def found(low: float, high: float) -> dict[str, Any]:
    better = {"low": low, "high": high}
    one = {"users": 12_400, "worth": {"low": 2.0, "high": 2.5}, "better": better, "chosen_at": 9}
    return {"policies": [one], "current": 0, "incumbent": None}


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.21, 0.35, "better than the incumbent by 0.21 to 0.35 a user, from 12,400 users"),
        (-0.35, -0.21, "worse than the incumbent by 0.21 to 0.35 a user, from 12,400 users"),
        (-0.1, 0.2, "not certain yet which is better"),
    ],
)
def test_the_verdict_says_which_is_better(low: float, high: float, words: str) -> None:
    assert words in verdict(found(low, high))


def test_without_an_incumbent_or_a_policy_it_says_what_there_is() -> None:
    alone = found(0, 1)
    del alone["policies"][0]["better"]
    assert "brings 2 to 2.5 a user, from 12,400 users" in verdict(alone)
    assert verdict(alone | {"current": None}) == "No policy is under certificate yet."


def test_a_change_is_told_with_its_probability() -> None:
    seen = {"policy": None, "since": 41_000, "before": 2.6, "after": 2.1}
    assert change({"alarm": 0.01, "change": None}) == "No change of the world was noticed."
    sentence = change({"alarm": 0.01, "change": seen})
    assert "since about user 41,000: the incumbent brings 2.1 a user instead of 2.6" in sentence
    assert "with probability 0.01 at most" in sentence
    assert "policy 3 brings" in change({"alarm": 0.01, "change": seen | {"policy": 2}})


def test_what_is_no_export_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    for content in ("", "{", "[]", json.dumps({"deployment": {}, "plans": [], "sums": []})):
        file.write_text(content, encoding="utf-8")
        outcome = run(f"certify {file}")
        assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert "No such file" in run(f"certify {tmp_path / 'nobody.json'}").err
