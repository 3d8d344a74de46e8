"""``audit`` and ``statement profile`` say what they found, and the exit code says it too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldprl.mechanisms.by_name import MECHANISMS

from .conftest import Run

PRIVATE = [name for name in MECHANISMS if name != "none"]
SIZES = "--states 2 --actions 2 --horizon 2"


def test_a_sound_mechanism_holds(run: Run) -> None:
    line = f"audit --mechanism laplace {SIZES} --epsilon 2 --samples 2000 --json"
    outcome = run(line)
    found = outcome.json
    assert (outcome.code, found["verdict"]) == (0, "holds")
    assert found["claimed"] == {"epsilon": 2.0, "delta": 0.0}
    assert found["exact_delta"] == 0
    assert 0 <= found["empirical_epsilon_lower"] <= 2
    assert found["empirical_delta_lower"] == 0


@pytest.mark.parametrize("name", ["gaussian", "bounded-noise"])
def test_the_papers_constants_are_violated(run: Run, name: str) -> None:
    line = f"audit --mechanism {name} {SIZES} --epsilon 20 --delta 0.1 --constants paper"
    outcome = run(line, "--samples", "2e4", "--json")
    found = outcome.json
    assert (outcome.code, found["verdict"]) == (1, "violated")
    assert found["claimed"] == {"epsilon": 20.0, "delta": 0.1}
    assert found["exact_delta"] > 0.9
    assert found["empirical_delta_lower"] > 0.1
    assert outcome.err.startswith("warning: ")


def test_all_prints_a_row_for_every_mechanism(run: Run) -> None:
    outcome = run("audit --all --delta 0.1 --samples 2000")
    assert outcome.code == 0
    for name in PRIVATE:
        (row,) = (line for line in outcome.out.splitlines() if line.split()[:1] == [name])
        assert "holds" in row


def test_all_as_json_is_a_list(run: Run) -> None:
    found = run("audit --all --delta 0.1 --samples 200 --json").json
    assert [row["mechanism"] for row in found] == PRIVATE


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ("", "--all"),
        ("--all --mechanism laplace", "--all"),
        ("--mechanism none", "none"),
        ("--mechanism laplacian", "laplace"),
        ("--mechanism laplace --samples 0", "samples"),
        ("--mechanism laplace --attack guess", "attack"),
        ("--mechanism laplace --epsilon -1", "epsilon"),
        ("--mechanism gaussian --delta 0", "delta"),
    ],
)
def test_bad_input_is_refused(run: Run, arguments: str, word: str) -> None:
    outcome = run(f"audit {arguments}")
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
    assert word in outcome.err


def test_profiles_as_table_json_and_picture(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "profiles.png"
    outcome = run("statement profile --epsilon 2 --delta 0.1", "--out", str(picture))
    assert outcome.code == 0
    assert all(name in outcome.out for name in PRIVATE)
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = {
        row["mechanism"]: row
        for row in run("statement profile --epsilon 2 --delta 0.1 --json").json
    }
    assert list(found) == PRIVATE
    assert found["laplace"]["delta"][3] == 0
    assert found["gaussian"]["delta"][3] == pytest.approx(0.1, rel=1e-2)


@pytest.mark.parametrize("line", ["audit --all --samples 200", "statement profile --epsilon 1"])
def test_mechanisms_that_need_a_delta_are_left_out_in_words(run: Run, line: str) -> None:
    outcome = run(line)
    assert outcome.code == 0
    assert outcome.err == "left out: bounded-noise, gaussian, which need --delta > 0\n"
    assert "gaussian" not in outcome.out
    assert "randomized-response" in outcome.out


def test_names_are_not_cut_on_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = run("statement profile --epsilon 1 --delta 0.01")
    assert all(name in outcome.out for name in PRIVATE)
    assert "gap" in outcome.out
    assert "…" not in outcome.out


def test_an_audit_says_how_strong_its_evidence_is(run: Run) -> None:
    line = f"audit --mechanism laplace {SIZES} --epsilon 2"
    few, many = run(f"{line} --samples 200"), run(f"{line} --samples 2e4 --json")
    assert "laplace, attack" in few.out
    assert "of 2: weak, " in few.out
    assert many.json["strength"].startswith("certifies 1.")


def test_what_users_of_a_deployment_run_is_attacked(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "vectors.toml"
    assert run(f"deployment init {file} --vectors").code == 0
    for line in (f"audit --deployment {file}", "audit --env CartPole-v1"):
        outcome = run(f"{line} --samples 5000 --json")
        assert (outcome.code, outcome.json["verdict"]) == (0, "holds")
        assert outcome.json["mechanism"] == "threshold-bits"
        assert outcome.json["claimed"] == {"epsilon": 1.0, "delta": 0.0}
        assert 0.7 < outcome.json["empirical_epsilon_lower"] <= 1
