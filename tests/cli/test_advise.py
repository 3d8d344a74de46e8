"""``ldprl advise`` answers in words, in JSON and in a picture."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ldprl.advice.forecast import Trial, TrialResult
from ldprl.advice.pairs import PAIRS, preferred
from ldprl.shape import Shape
from ldprl.worlds import optimum, random_mdp
from ldprl.worlds.evaluation import random_value, regret, worth

from .conftest import Run

SIZES = "--states 2 --actions 2 --horizon 2"
SMALL = f"advise {SIZES} --users 2e3 --runs 3 --workers 1"
ONE = "--learner ldp-evi --mechanism subset-selection"


def test_the_answer_comes_first_then_what_would_change_it_then_the_tables(run: Run) -> None:
    outcome = run(f"{SMALL} --epsilon 2")
    assert outcome.code == 0
    assert all("simulations" in line for line in outcome.err.splitlines())
    parts = ("At ε = 2 ", "What would change it", "fitted", "every pair", "Policy loss is")
    places = [outcome.out.index(text) for text in parts]
    assert places == sorted(places)
    assert places[0] == 0
    for pair in PAIRS:
        assert f"{pair.learner}, {pair.mechanism}" in outcome.out
        assert pair.promise in outcome.out


def test_without_epsilon_it_is_searched_for(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "advice.png"
    outcome = run(f"{SMALL} {ONE} --target-loss 0.3 --plot {picture}")
    assert outcome.code == 0
    assert outcome.out.startswith(("Take ldp-evi", "No pair comes down to a loss of 0.3"))
    assert "every pair" in outcome.out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_users_they_are_searched_for(run: Run) -> None:
    line = f"advise --mdp random:2,2,2,3 --epsilon 4 {ONE} --target-loss 0.3 --runs 3"
    found = run(f"{line} --workers 1 --json").json
    assert found["asked"] == "users"
    assert found["recommendation"]["reaches_target"]
    assert found["recommendation"]["users"] < 10**6


def test_json_is_the_same_whatever_the_number_of_workers(run: Run) -> None:
    line = f"advise {SIZES} --users 500 --runs 4 --seed 5 {ONE} --json"
    alone, two = run(f"{line} --workers 1"), run(f"{line} --workers 2")
    assert alone.code == 0
    assert all("simulations" in line for line in alone.err.splitlines())
    assert alone.out == two.out
    assert alone.json["recommendation"]["sentence"]


def test_a_world_and_an_incumbent_of_ones_own(run: Run, tmp_path: Path) -> None:
    mdp = random_mdp(2, 3, 2, seed=3)
    path, policy = tmp_path / "world.json", tmp_path / "policy.json"
    path.write_text(mdp.to_json(), encoding="utf-8")
    policy.write_text(str(optimum(mdp).policy.tolist()), encoding="utf-8")
    line = f"advise --mdp {path} --users 200 --runs 2 --workers 1 --epsilon 1 {ONE} --json"
    found = run(line).json
    assert (found["states"], found["actions"], found["horizon"]) == (2, 3, 2)
    assert found["worlds"] == ["the given MDP"] * 2
    assert run(f"{line} --actions 3").json == found
    values = found["values"]
    assert values["best_value"] == pytest.approx(float(mdp.initial @ optimum(mdp).values[0]))
    assert values["random_value"] == pytest.approx(random_value(mdp))
    lost = found["recommendation"]["loss_of_the_policy_handed_over"]
    assert values["learned"] == pytest.approx(1 - lost)
    printed = " ".join(run(line.removesuffix(" --json")).out.split())
    assert (
        f"and the policy that is handed over after 200 users {values['final_value']:.4g}" in printed
    )
    row = tmp_path / "row.json"
    row.write_text("[0, 0]", encoding="utf-8")
    policy_of_one_row = run(f"{line} --incumbent {row}").json["incumbent"]["loss"]
    assert policy_of_one_row == pytest.approx(
        regret(mdp, np.zeros((2, 2), dtype=np.int64)) / worth(mdp)
    )
    beaten = run(f"{line} --incumbent {policy}").json["incumbent"]
    assert beaten["loss"] == pytest.approx(0, abs=1e-9)
    assert beaten["made_up_for_after_users"] is None


def test_a_budget_for_all_reports_is_shared_among_them(run: Run) -> None:
    line = f"advise {SIZES} {ONE} --users 20 --reports-per-user 100 --total-epsilon 2 --runs 2"
    line += " --workers 1"
    found = run(f"{line} --json").json["recommendation"]
    assert (found["epsilon"], found["total_epsilon"]) == (0.02, 2.0)
    assert (found["users"], found["reports_per_user"]) == (2000, 100)
    with_delta = run(f"{line} --total-delta 1e-6 --json").json["recommendation"]
    assert with_delta["epsilon"] > 0.03


def test_a_relay_is_compared_at_the_same_central_epsilon(run: Run) -> None:
    line = f"{SMALL} {ONE} --epsilon 0.5 --shuffle 500"
    found = run(f"{line} --json").json["relay"]
    assert found["central_epsilon"] == 0.5
    assert found["local_epsilon"] > 0.5
    answer = run(line).out
    assert (
        f"Each report ε₀ = {found['local_epsilon']:g} by itself, and central ε = 0.5"
        in " ".join(answer[: answer.index("What would change it")].split())
    )


def test_users_who_overlap_learn_later_and_the_answer_has_a_calendar(run: Run) -> None:
    """Of 2,000 users 1,800 begin before the first of them reports."""
    line = f"{SMALL} {ONE} --epsilon 8"
    at_once = run(f"{line} --json").json
    found = run(f"{line} --arrivals-per-day 200 --episode-days 9 --json").json
    assert at_once["calendar"] is None
    assert found["recommendation"]["loss"] > 2 * at_once["recommendation"]["loss"]
    assert (found["calendar"]["first_version_users"], found["calendar"]["days"]) == (1800, 10.0)
    late = "Whatever ε is, 1,800 of these 2,000 begin before the first report arrives"
    assert late in found["recommendation"]["sentence"]
    assert late not in at_once["recommendation"]["sentence"]
    assert "nobody learns enough" not in found["recommendation"]["sentence"]
    said = found["calendar"]["sentence"]
    assert said.startswith(
        "2,000 episodes begin within 10 days, and the last report comes on day 19"
    )


def test_reports_of_returning_users_are_one_number_everywhere(run: Run) -> None:
    line = f"advise {SIZES} {ONE} --users 500 --reports-per-user 4 --epsilon 1 --runs 2 --workers 1"
    printed = " ".join(run(f"{line} --incumbent 0.9").out.split())
    assert "after 2,000 reports of 500 users" in printed
    assert not re.search(r"(2,000|20,000) users", printed)


def test_a_large_delta_is_named(run: Run) -> None:
    line = f"{SMALL} --epsilon 2 --learner ldp-evi --mechanism gaussian --json"
    assert "warning" not in run(line).err
    assert "δ = 0.01 is not below 1/users" in run(f"{line} --delta 0.01").err
    assert "warning" not in run(f"{SMALL} --epsilon 2 {ONE} --delta 0.01 --json").err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("advise --users 10 --states 2 --actions 2", "--horizon is missing"),
        (f"advise {SIZES}", "--users is missing: expected a number of users, an ε, or both"),
        (f"{SMALL} --epsilon 1 --episode-days 2", "--arrivals-per-day beside it"),
        (f"{SMALL} --epsilon 1 --arrivals-per-day 2", "--episode-days beside it"),
        (f"{SMALL} --epsilon 1 --arrivals-per-day 0 --episode-days 2", "arrivals_per_day = 0"),
        (f"{SMALL} --epsilon 1 --total-epsilon 2", "either this or --epsilon"),
        (f"{SMALL} --epsilon 1 --reports-per-user 1e6", "reports_per_user = 1000000"),
        (f"{SMALL} --epsilon 1 --incumbent x.json", "incumbent = 'x.json'"),
        (f"{SMALL} --epsilon 1 --learner ucb-vi", "a pair with local privacy"),
        (f"{SMALL} --epsilon 1 --learner no.such:One", "no module named"),
        ("advise --users 10 --mdp random:2,2,2,3 --states 3", "states = 3: expected 2"),
        (f"{SMALL} --epsilon nan", "epsilon = nan"),
        (f"{SMALL} --epsilon 1e-9", "epsilon = 1e-09: expected a number from 0.001 to 100"),
        (f"{SMALL} --target-loss 2", "target_loss = 2.0"),
        (f"{SMALL} --delta 0", "delta = 0.0"),
        (f"{SMALL} --runs 0", "runs = '0'"),
        (f"{SMALL} --workers 0", "workers = '0'"),
        (f"{SMALL} --plot x.txt", "ends in .png"),
        (f"{SMALL} --plot no/such/folder/x.png", "folder that exists"),
        ("advise --users 10 --states 2 --actions 1 --horizon 2", "actions = 1"),
        ("advise --users 10 --mdp nowhere.json", "nowhere.json"),
    ],
)
def test_bad_input_is_one_line(run: Run, line: str, said: str) -> None:
    outcome = run(line)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_an_interrupt_ends_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ldprl.advice.forecast.simulate", interrupted)
    outcome = run(f"{SMALL} --epsilon 1")
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "")


def test_an_interrupt_leaves_the_answer_so_far(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual pair is simulated before all others, one of which is interrupted here."""
    compute, usual = Trial.compute, preferred(Shape(2, 2, 2), 2.0)

    def interrupted(trial: Trial) -> TrialResult:
        if trial.pair != usual:
            raise KeyboardInterrupt
        return compute(trial)

    monkeypatch.setattr(Trial, "compute", interrupted)
    outcome = run(f"{SMALL} --epsilon 1")
    assert outcome.code == 130
    assert outcome.err.splitlines()[-1] == "stopped: this is what the simulations so far say"
    assert outcome.out.startswith("At ε = 1 ")
    assert f"{usual.learner}, {usual.mechanism}" in outcome.out
    assert "No privacy" not in outcome.out
    found = run(f"{SMALL} --epsilon 1 --json")
    assert (found.code, found.json["without_privacy"]) == (130, None)
    assert [one["learner"] for one in found.json["compared"]] == [usual.learner]
