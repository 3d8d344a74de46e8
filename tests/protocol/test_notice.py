"""The draft of a privacy notice: what a ledger would refuse, and the numbers of the code."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldprl import Budget, InputError
from ldprl.accounting.filter import admits
from ldprl.client.ledger import Ledger
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.protocol.certificate import Certified
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.duration import GRACE_HOURS
from ldprl.protocol.notice import Taking, privacy_notice
from ldprl.protocol.statement import privacy_statement
from ldprl.structure import Structure

from .deployments import SHAPE

ONE = Budget("0.1")


def notice(served: Deployment, taking: Taking) -> str:
    given = served.built.guarantee
    number = taking.most(Budget(given.epsilon, given.delta))
    said = privacy_statement(served.built, [number])
    return " ".join(privacy_notice(served, said, taking).split())


@pytest.mark.parametrize("budget", [Budget("0.35"), Budget(4), Budget(4, "1e-6")])
def test_as_many_reports_as_a_ledger_makes(budget: Budget, tmp_path: Path) -> None:
    most = Taking(budget=budget).most(ONE)
    ledger = Ledger(tmp_path / "reports.ledger", budget)
    assert ledger.left("a", Guarantee(0.1, 0.0)).reports == most
    assert admits([ONE] * most, budget)
    assert not admits([ONE] * (most + 1), budget)


@pytest.mark.parametrize(
    ("taking", "field"),
    [
        (Taking(2), "reports"),
        (Taking(41, Budget(4)), "reports"),
        (Taking(0, Budget(4)), "reports"),
        (Taking(budget=Budget("0.05")), "budget"),
        (Taking(days=7), "days"),
        (Taking(budget=Budget(1), days=0), "days"),
    ],
)
def test_what_a_ledger_would_refuse_is_not_promised(taking: Taking, field: str) -> None:
    with pytest.raises(InputError, match=rf"^{field} = "):
        taking.most(ONE)


def test_the_numbers_are_those_of_the_deployment() -> None:
    served = Deployment("tests", SHAPE, "0.5", step_hours="12")
    window = served.report_window_hours
    said = notice(served, Taking(4, Budget(2), 365))
    assert "with ε = 0.5." in said
    assert "at most 4 times in any 365 days" in said
    assert f"4 reports: a factor of {math.ceil(100 * math.exp(2)) / 100:g} (ε = 2)" in said
    assert "a budget of ε = 2, whatever we ask." in said
    assert "twice as much may go out: ε = 4, a factor of 54.6." in said
    assert f"until {window + GRACE_HOURS} hours after the policy" in said
    assert f"{served.problem.horizon / 2:g} days after it began" in said
    assert "relay" not in said.split("## For your lawyer")[0]


def test_what_is_asked_for_a_certificate_is_said() -> None:
    served = Deployment("tests", SHAPE, "1", certificate=Certified("0.25", "0.95"))
    said = notice(served, Taking())
    assert "[What a report answers: see the page of the mechanism.] About 25% of those" in said
    assert "the policy that was in use before" not in said
    incumbent = np.zeros((SHAPE.horizon, SHAPE.states), dtype=int)
    known = Structure(SHAPE, incumbent=incumbent)
    assert "in use before [which that is]." in notice(replace(served, structure=known), Taking())
    assert "are asked only whether" not in notice(Deployment("tests", SHAPE, "1"), Taking())


def test_delta_is_said_as_what_it_is_and_never_as_an_exception() -> None:
    served = Deployment("tests", SHAPE, "1", mechanism="gaussian", delta="1e-5")
    said = notice(served, Taking(budget=Budget(10, "1e-4")))
    assert "says no more about which of them did than this would: with a chance of δ" in said
    assert "than this would: with a chance of 1 in 10,000 (δ) you are given away" in said
    assert "except with" not in said


def test_nothing_is_promised_where_nothing_is_private() -> None:
    served = Deployment("tests", SHAPE, "1")
    private = privacy_statement(served.built, [1])
    open_reports = replace(private, given=Guarantee(math.inf, 0.0))
    with pytest.raises(InputError, match="there is nothing to promise"):
        privacy_notice(served, open_reports, Taking())
