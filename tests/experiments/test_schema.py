"""What an experiment's file may say."""

from __future__ import annotations

import pytest

from ldprl.errors import InputError
from ldprl.experiments.schema import parse

LEAST = 'environments = ["random:3,2,3,1"]\nlearners = ["ldp-obi"]\nepisodes = 100\n'
PRIVATE = LEAST + 'mechanisms = ["laplace"]\nepsilons = [2]\n'


def test_least_file_has_defaults() -> None:
    experiment = parse(LEAST)
    assert experiment.mechanisms == ("none",)
    assert experiment.epsilons == ()
    assert experiment.constants == ("sound",)
    assert (experiment.seeds, experiment.runs) == ((0,), 1)


def test_whole_numbers_may_be_written_with_an_exponent() -> None:
    experiment = parse(LEAST.replace("100", "1e12") + "runs = 2e1\nseeds = [1e3]\n")
    assert (experiment.episodes, experiment.runs, experiment.seeds) == (10**12, 20, (1000,))
    assert isinstance(experiment.episodes, int)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("epsilon", "epsilons"),
        ("enviroments", "environments"),
        ("failure_probabilty", "failure_probability"),
        ("seed", "seeds"),
    ],
)
def test_unknown_key_is_refused_and_the_nearest_named(key: str, nearest: str) -> None:
    with pytest.raises(InputError, match=f"key = '{key}': .*did you mean '{nearest}'"):
        parse(PRIVATE + f"{key} = 1\n")


@pytest.mark.parametrize("key", ["environments", "learners", "episodes"])
def test_missing_key_is_named(key: str) -> None:
    text = "\n".join(line for line in LEAST.splitlines() if not line.startswith(key))
    with pytest.raises(InputError, match=f"the key '{key}' too"):
        parse(text)


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        ("runs = 0", "runs", "a whole number from 1"),
        ("runs = 1.5", "runs", "a whole number from 1"),
        ("runs = true", "runs", "a whole number from 1"),
        ("runs = '3'", "runs", "a whole number from 1"),
        ("runs = inf", "runs", "a whole number from 1"),
        ("seeds = 3", "seeds", "a list"),
        ("seeds = []", "seeds", "a list"),
        ("seeds = [0, -1]", r"seeds[1]", "a whole number from 0"),
        ("seeds = [9223372036854775808]", r"seeds[0]", "a whole number from 0"),
        ("seeds = [1, 1.0]", r"seeds[1]", "each value once"),
        ("constants = 'sound'", "constants", "a list"),
        ("constants = ['sund']", r"constants[0]", "did you mean 'sound'?"),
        ("replan = 'groth:0.1'", "replan", "'growth:G'"),
        ("replan = 'growth:0'", "growth", "> 0"),
        ("replan = 1", "replan", "a text"),
        ("delta = 1", "delta", "a number in [0, 1)"),
        ("delta = 'x'", "delta", "a number"),
        ("failure_probability = 0", "failure_probability", "a number in (0, 1)"),
        ("alpha = nan", "alpha", "a finite number"),
        ("alpha = [2]", "alpha", "a number"),
    ],
)
def test_bad_value_is_refused_with_its_field(line: str, field: str, expected: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse(PRIVATE + line)
    assert refusal.value.field == field
    assert expected in refusal.value.expected


@pytest.mark.parametrize(
    ("old", "new", "field", "expected"),
    [
        ("100", "0", "episodes", "a whole number from 1"),
        ("100", "2e12", "episodes", "to 1000000000000"),
        ("[2]", "[0]", "epsilons[0]", "> 0"),
        ("[2]", "[2, inf]", "epsilons[1]", "finite"),
        ("[2]", "['2']", "epsilons[0]", "a number"),
        ("[2]", "[2, 2.0]", "epsilons[1]", "each value once"),
        ("laplace", "laplas", "mechanisms[0]", "did you mean 'laplace'?"),
        ("ldp-obi", "ldp-oby", "learners[0]", "did you mean 'ldp-obi'?"),
        ('"random:3,2,3,1"', "7", "environments[0]", "a text"),
    ],
)
def test_bad_axis_is_refused_with_its_place(old: str, new: str, field: str, expected: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse(PRIVATE.replace(old, new))
    assert refusal.value.field == field
    assert expected in refusal.value.expected


def test_epsilons_are_needed_where_a_mechanism_is_private_and_nowhere_else() -> None:
    with pytest.raises(InputError, match="epsilons"):
        parse(LEAST + 'mechanisms = ["none", "laplace"]\n')
    with pytest.raises(InputError, match="epsilons"):
        parse(LEAST + "epsilons = [2]\n")


def test_mechanism_that_no_learner_can_use_is_refused() -> None:
    with pytest.raises(InputError, match=r"mechanisms = \['laplace'\]: .*ldp-obi"):
        parse(PRIVATE.replace("ldp-obi", "ucb-vi"))


def test_what_is_not_toml_is_refused_with_the_line() -> None:
    with pytest.raises(InputError, match="line 1"):
        parse("environments = [\x00")
