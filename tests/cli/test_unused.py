"""What is given and not used is refused, in every command and every key of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldprl.errors import InputError
from ldprl.experiments.schema import parse

from .conftest import Run

SIZES = "--states 2 --actions 2 --horizon 2"
REGRET = "regret --mdp random:2,2,2,3 --episodes 100"
LINES = [
    (f"statement --mechanism none {SIZES} --epsilon 1", "epsilon"),
    (f"statement --mechanism laplace {SIZES} --epsilon 1 --delta 0.1", "delta"),
    (f"statement profile --mechanism laplace {SIZES} --epsilon 1 --delta 0.1", "delta"),
    (f"audit --mechanism laplace {SIZES} --epsilon 1 --delta 0.1", "delta"),
    (f"audit --mechanism laplace {SIZES} --crowd 10 --attack counters", "attack"),
    (f"audit --mechanism laplace {SIZES} --crowd 10 --constants paper", "constants"),
    (f"{REGRET} --mechanism none --epsilon 1", "epsilon"),
    (f"{REGRET} --learner ucb-vi --epsilon 1", "epsilon"),
    (f"{REGRET} --learner ldp-obi --epsilon 1 --delta 0.1", "delta"),
    (f"{REGRET} --learner ldp-evi --epsilon 1 --alpha 3", "alpha"),
    (f"{REGRET} --learner ldp-ts --epsilon 1 --failure-probability 0.2", "failure_probability"),
    (f"{REGRET} --learner psrl --failure-probability 0.2", "failure_probability"),
    (f"{REGRET} --epsilon 1 --central-delta 1e-6", "central_delta"),
    (f"{REGRET} --epsilon 1 --crowd 9 --central-delta 1e-6 --until-certified 1", "central_delta"),
    (f"advise {SIZES} --users 1e4 --epsilon 1 --central-delta 1e-6", "central_delta"),
    (f"advise {SIZES} --users 1e4 --epsilon 1 --total-delta 1e-6", "total_delta"),
    (f"advise {SIZES} --users 1e4 --epsilon 1 --learner ldp-ts --delta 1e-6", "delta"),
    ("statement crowd --epsilon 1 --crowd 1000 --states 2", "states"),
    (f"bounds {SIZES} --episodes 1e6 --epsilon 1 --crowd 10", "crowd"),
    ("ledger reports.ledger --cost 1", "cost"),
    ("ledger reports.ledger --days 7", "days"),
]
GRID = 'environments = ["random:2,2,2,0"]\nepisodes = 10\n'
KEYS = [
    ('learners = ["ldp-ts"]\nmechanisms = ["laplace"]\nepsilons = [1]\nalpha = 3.0', "alpha"),
    ('learners = ["ldp-obi"]\nmechanisms = ["laplace"]\nepsilons = [1]\ndelta = 0.1', "delta"),
    ('learners = ["psrl"]\nfailure_probability = 0.2', "failure_probability"),
    ('learners = ["ucb-vi"]\nepsilons = [1]', "epsilons"),
    ('learners = ["ucb-vi"]\nmechanisms = ["laplace"]', "mechanisms"),
    ('pairs = [{learner = "ucb-vi"}]\nmechanisms = ["laplace"]', "mechanisms"),
]


@pytest.mark.parametrize(("line", "field"), LINES)
def test_an_option_that_nothing_uses_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, field: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run(line)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {field} = "), outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(("keys", "field"), KEYS)
def test_a_key_that_nothing_uses_is_refused(keys: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(GRID + keys)
    assert caught.value.field == field


def test_a_port_is_named_in_digits(run: Run) -> None:
    outcome = run("serve --port 70000")
    assert outcome.err.startswith("error: port = '70000': expected a whole number from 0 to 65535")
    assert "from 1 to 1e+12" in run(f"{REGRET} --epsilon 1 --episodes 1e13").err


LARGE = [
    ("statement crowd --central-epsilon 710 --epsilon 8", "One of 1 that an honest relay mixes"),
    (f"statement --mechanism return-bits {SIZES} --epsilon 40", f"1 in {2**64 // 79:,}"[:20]),
    (f"statement --mechanism return-bits {SIZES} --epsilon 800", f"1 in {2**64:,}"[:20]),
    (f"audit --mechanism return-bits {SIZES} --epsilon 800 --samples 100", "inconclusive"),
]


@pytest.mark.parametrize(("line", "words"), LARGE)
def test_a_large_epsilon_gets_a_true_answer(run: Run, line: str, words: str) -> None:
    """A lie has probability 1/(e^ε + 1) in units of 2⁻⁶⁴: 79 of them at ε = 40, at least one."""
    outcome = run(line)
    assert outcome.code == 0, outcome.err
    assert words in " ".join(outcome.out.split())


def test_users_needed_at_a_large_epsilon() -> None:
    from ldprl.learnt.sample_size import users_needed
    from ldprl.worlds import random_mdp

    mdp = random_mdp(5, 2, 3, seed=1)
    assert users_needed(mdp, 800.0) <= users_needed(mdp, 1.0)
