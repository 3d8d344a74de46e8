"""Private-UCB-VI: its bonus, entry by entry, with every mechanism's errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.shape import Shape
from ldprl.statistics import Statistics
from studies.rivals.private_ucb_vi import PrivateUCBVI
from tests.learning.cases import NAMES, SHAPES, mechanism, noisy_sums
from tests.studies.rivals.plain import counter_errors

DELTA = 0.05


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_are_those_of_the_formula(shape: Shape, name: str) -> None:
    sums, chosen = noisy_sums(shape, 3), mechanism(name, shape)
    laws, horizon = chosen.error_laws, shape.horizon
    steps = (sums.users + 1) * horizon
    width = math.sqrt(2 * math.log(4 * shape.states * shape.actions * steps / DELTA))
    each = 3 * DELTA / (2 * math.pi**2 * (sums.users + 1) ** 2)
    following = [0.0] * shape.states
    policy, values = PrivateUCBVI(chosen, failure_probability=DELTA).optimistic(sums)
    for step in reversed(range(horizon)):
        g = shape.model_of(step)
        current = []
        for s in range(shape.states):
            choices = []
            for a in range(shape.actions):
                cell = g, s, a
                k = float(sums.reports[cell]) + 1
                e1, e2 = float(laws.visits(k, each)), float(laws.rewards(k, each))
                count = max(float(sums.visits[cell]) + e1, 1.0)
                q = sums.rewards[cell] / count + width / math.sqrt(count) + (3 * e1 + e2) / count
                if step + 1 < horizon:
                    e1, e3 = float(laws.departures(k, each)), float(laws.transitions(k, each))
                    count = max(float(sums.transitions[cell].sum()) + e1, 1.0)
                    q += horizon * width / math.sqrt(count)
                    q += horizon * (shape.states * e3 + 2 * e1) / count
                    q += float(sums.transitions[cell] @ following) / count
                choices.append(float(q))
            assert choices[policy[step, s]] == pytest.approx(max(choices), abs=1e-9)
            current.append(min(horizon - step, max(choices)))
        assert values[step] == pytest.approx(current)
        following = current


def test_without_users_everything_is_possible() -> None:
    shape = Shape(2, 2, 3)
    for name in NAMES:
        chosen = mechanism(name, shape)
        values = PrivateUCBVI(chosen).optimistic(chosen.no_statistics())[1]
        assert values.tolist() == [[3, 3], [2, 2], [1, 1], [0, 0]]


def test_errors_add_up_over_users_to_a_quarter_of_the_failures() -> None:
    """Σ_k 3δ/(2π²k²) = δ/4: what each release may fail with is read off the law at a known t."""
    shape = Shape(2, 2, 2)
    laws = mechanism("laplace", shape).error_laws
    for users in (0, 7, 10**6):
        sums = Statistics.empty(shape)
        sums = Statistics(**{**vars(sums), "users": users, "reports": sums.reports + users})
        found = counter_errors(laws, sums, 0.2)
        failure = 3 * 0.2 / (2 * math.pi**2 * (users + 1) ** 2)
        assert found.visits == pytest.approx(np.full((1, 2, 2), laws.visits(users + 1, failure)))
    many = np.arange(1, 10**6)
    assert (3 / (2 * math.pi**2 * many**2.0)).sum() == pytest.approx(1 / 4, abs=1e-6)


def test_a_failure_probability_is_refused() -> None:
    for bad in (0.0, 1.0, math.nan):
        with pytest.raises(InputError, match="failure_probability"):
            PrivateUCBVI(mechanism("laplace", Shape(2, 2, 2)), failure_probability=bad)
