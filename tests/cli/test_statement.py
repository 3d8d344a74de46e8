"""``ldprl statement`` and ``ldprl ledger``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldprl.client.ledger import Ledger
from ldprl.mechanisms.mechanism import Guarantee

from .conftest import Run

LINE = "statement --mechanism laplace --states 2 --actions 2 --horizon 2 --epsilon 1"


def test_statement_in_words_and_numbers(run: Run) -> None:
    shown = run(LINE)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("Each of your reports is private, with ε = 1.")
    found = run(f"{LINE} --json --reports 4,9").json
    assert found["per_report"] == {"epsilon": 1.0, "delta": 0.0, "beyond": 0.0}
    assert [row["reports"] for row in found["returning_user"]] == [4, 9]
    assert found["crowd"] is None
    mixed = run(f"{LINE} --json --crowd 1e4 --delta 1e-6").json["crowd"]
    assert (mixed["crowd"], mixed["delta"]) == (10**4, 1e-6)
    assert mixed["epsilon"] < 0.1


def test_statement_of_a_claim_that_fails(run: Run) -> None:
    line = LINE.replace("laplace", "gaussian").replace("epsilon 1", "epsilon 20 --delta 0.1")
    shown = run(f"{line} --constants paper")
    assert shown.out.startswith("Your reports are less private than claimed")
    assert shown.err.startswith("warning: ")


def test_statement_of_a_deployment(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    head = 'name = "clinic"\nstates = 2\nactions = 3\nhorizon = 4\nepsilon = "2"\n'
    known = '[structure]\nadmissible = [[0, 1, 2], [1]]\n[labels]\nstates = ["well", "ill"]\n'
    file.write_text(head + known, encoding="utf-8")
    shown = run(f"statement --deployment {file}")
    assert (shown.code, shown.err) == (0, "")
    said = " ".join(shown.out.split())
    assert "Each of your reports is private, with ε = 2." in said
    assert "which actions are allowed; for example in “ill” only “action 1” is allowed" in said
    assert "your device checks this" in said
    found = run(f"statement --deployment {file} --json").json
    assert (found["mechanism"]["states"], len(found["known"])) == (2, 1)
    file.write_text(head, encoding="utf-8")
    assert "publicly known" not in run(f"statement --deployment {file}").out
    for more, words in (
        ("--epsilon 1", "epsilon = 1.0: expected nothing: the deployment says it"),
        ("--constants paper", "constants = 'paper'"),
    ):
        refused = run(f"statement --deployment {file} {more}")
        assert (refused.code, words in refused.err) == (2, True)
    refused = run("statement --mechanism laplace --states 2")
    assert refused.err.startswith("error: --actions is missing")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--reports 2,x", "reports = 'x'"),
        ("--reports 0", "reports = '0'"),
        ("--mechanism laplas", "did you mean 'laplace'?"),
        ("--epsilon 0", "epsilon = 0.0"),
        ("--states 0", "states = '0'"),
        ("--crowd 1", "crowd = '1'"),
    ],
)
def test_statement_refuses(run: Run, more: str, words: str) -> None:
    refused = run(f"{LINE} {more}")
    assert (refused.code, refused.out) == (2, "")
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1


def test_a_notice_is_about_a_deployment_and_its_budget(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert run(f"deployment init {file}").code == 0
    line = f"statement --format notice --deployment {file}"
    written = run(f"{line} --reports 4 --budget 8 --days 365").out
    assert written.startswith("# Privacy notice: My deployment")
    assert "4 reports: a factor of 2,981 (ε = 8)" in written
    for refused, words in (
        (f"{line} --reports 2", "reports = 2: expected at most 1"),
        (f"{line} --reports 2,3 --budget 8", "one number in a notice"),
        (f"{line} --reports 5 --budget 8", "reports = 5: expected at most 4"),
        (f"{line} --json", "json = True"),
        ("statement --format poem", "format = 'poem'"),
        ("statement --format notice", "--deployment is missing"),
        (f"statement --deployment {file} --budget 8", "budget = '8': expected none"),
    ):
        outcome = run(refused)
        assert (outcome.code, outcome.out) == (2, "")
        assert words in outcome.err


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    path = tmp_path / "reports.ledger"
    book = Ledger(path)
    for deployment, epsilon in (("a", 0.1), ("b", 0.2)):
        book.report(deployment, Guarantee(epsilon, 0.0), lambda: b"12345")
    return str(path)


def test_ledger_shows_reports_and_their_sum(run: Run, ledger: str) -> None:
    found = run(f"ledger {ledger} --json").json
    assert [(row["deployment"], row["state"], row["bytes"]) for row in found["reports"]] == [
        ("a", "made", 5),
        ("b", "made", 5),
    ]
    assert found["spent"] == {
        "reports": 2, "epsilon": 0.3, "delta": 0.0, "basic_epsilon": 0.3, "basic_delta": 0.0,
    }  # fmt: skip
    shown = run(f"ledger {ledger}").out
    assert "2 reports. Together: ε = 0.3 at δ = 0; added up: ε = 0.3, δ = 0." in shown
    # Costs that differ are added up, since a service may have chosen them one after the other.
    assert run(f"ledger {ledger} --delta 0.01 --json").json["spent"]["epsilon"] == 0.3


def test_ledger_refuses(run: Run, ledger: str, tmp_path: Path) -> None:
    for line, words in (
        (f"ledger {tmp_path / 'none'}", "file = "),
        (f"ledger {__file__}", "expected a ledger"),
        (f"ledger {ledger} --delta 2", "delta = 2"),
        (f"ledger {ledger} --delta x", "delta = 'x'"),
    ):
        refused = run(line)
        assert (refused.code, refused.out) == (2, "")
        assert words in refused.err
    assert run(f"ledger {tmp_path}").code == 2


def test_ledger_says_what_is_left(run: Run, ledger: str, tmp_path: Path) -> None:
    spent = run(f"ledger {ledger} --json").json["spent"]["basic_epsilon"]
    left = run(f"ledger {ledger} --budget {spent + 1} --cost 0.25 --json").json["left"]
    assert left == {"reports": 4, "days": 0.0}
    assert "4 more fit" in run(f"ledger {ledger} --budget {spent + 1} --cost 0.25").out
    assert "no more fit" in run(f"ledger {ledger} --budget {spent}").out
    # Nobody has answered these reports, so they may still go out in any year.
    yearly = run(f"ledger {ledger} --budget {spent} --days 365 --json").json["left"]
    assert yearly == {"reports": 0, "days": None}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--budget x", "epsilon = 'x'"),
        ("--budget 1,2", "delta"),
        ("--budget 1 --days 0", "days"),
        ("--budget 1 --cost 0", "epsilon"),
    ],
)
def test_ledger_refuses_a_budget(run: Run, ledger: str, options: str, said: str) -> None:
    outcome = run(f"ledger {ledger} {options}")
    assert outcome.code == 2
    assert said in outcome.err


def test_statement_of_a_deployment_on_vectors(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "vectors.toml"
    assert run(f"deployment init {file} --vectors").code == 0
    shown = run(f"statement --deployment {file}")
    assert (shown.code, shown.err) == (0, "")
    words = " ".join(shown.out.split())
    assert "may see nearly all that you saw; only your report is protected" in words
    assert "3 features, 3 actions, 18 parameters (linear), at most 30 steps" in words
    alike = run("statement --env CartPole-v1 --epsilon 1 --json").json
    assert alike["mechanism"]["name"] == "threshold-bits"
    assert alike["mechanism"]["parameters"] == 10


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("statement --env CartPole-v1 --states 3 --epsilon 1", "states = 3"),
        ("statement --policy linear --mechanism laplace --epsilon 1", "an --env"),
        ("statement --env CartPole-v1 --mechanism laplace --epsilon 1", "finitely many states"),
        ("audit --env CartPole-v1 --all", "none with --all"),
        ("audit --deployment x.toml --epsilon 2", "the deployment says it"),
    ],
)
def test_what_does_not_go_together_is_said(run: Run, line: str, said: str) -> None:
    outcome = run(line)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert len(outcome.err.splitlines()) == 1
