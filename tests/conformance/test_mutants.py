"""Clients with one mistake each fail the check that looks for it, and Python's own passes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ldprl.conformance.cells import cells
from ldprl.conformance.chance import laws, numbers, privacy
from ldprl.conformance.delivery import budgets, delivery, served_by
from ldprl.conformance.exact import exact
from ldprl.conformance.hostile import refusals
from ldprl.conformance.network import network
from ldprl.conformance.program import Program
from ldprl.conformance.relayed import relayed
from ldprl.conformance.run import conform
from ldprl.conformance.subject import Check, Subject

MUTANT = Path(__file__).with_name("mutant.py")
GOOD = f"{sys.executable} -m ldprl.conformance.python_client"
Checks = Callable[[Subject], Iterator[Check]]


def sending(subject: Subject) -> Iterator[Check]:
    yield from delivery(subject, *served_by(subject.deployments()[0]))
    yield from budgets(subject, *served_by(subject.deployments()[0]))


def disturbed(subject: Subject) -> Iterator[Check]:
    return network(subject, *served_by(subject.deployments()[0]))


def drawing(subject: Subject) -> Iterator[Check]:
    return numbers(subject, *served_by(subject.deployments()[0]))


FEW = {"words", "joint", "returns"}
MUTANTS: dict[str, tuple[Checks, str]] = {
    "slanted": (exact, "whole episodes"),
    "trusting": (refusals, "digests"),
    "credulous": (refusals, "deployments of subset-selection"),
    "careless": (refusals, "assignments of subset-selection"),
    "rewriting": (sending, "retries"),
    "forgetful": (sending, "killed before the response"),
    "led": (disturbed, "redirects"),
    "patient": (disturbed, "a response without end"),
    "short": (drawing, "random numbers"),
    "quiet": (laws, "law of subset-selection"),
    "loud": (privacy, "privacy of subset-selection"),
    "lavish": (cells, "cells of states"),
    "crowded": (relayed, "plans"),
    "eager": (relayed, "plans"),
    "roomy": (relayed, "plans"),
    "rewritten": (relayed, "sealed reports"),
}
"""The mistake, who looks for it, and where it is found."""
ALWAYS = {"slanted", "careless", "rewriting", "short", "loud", "roomy"}
"""One for each of the checks; the others of the same check with the slow tests."""


def checks_of(command: str, checks: Checks, folder: Path) -> dict[str, Check]:
    with Program(command) as program:
        subject = Subject(program, folder, 10_000, frozenset(["subset-selection"]))
        # A few deployments will do: tests/conformance/test_clients.py has all of them.
        few = [one for one in subject.vectors["deployments"] if one["document"]["name"] in FEW]
        subject.vectors["deployments"] = few
        return {check.name: check for check in checks(subject)}


@pytest.mark.parametrize(
    "mutant",
    [one if one in ALWAYS else pytest.param(one, marks=pytest.mark.slow) for one in MUTANTS],
)
def test_a_mistake_is_found_where_it_is(mutant: str, tmp_path: Path) -> None:
    checks, name = MUTANTS[mutant]
    found = checks_of(f"{sys.executable} {MUTANT} {mutant}", checks, tmp_path)
    assert found[name].passed is False, found


@pytest.mark.parametrize(
    "checks", [exact, sending, disturbed, drawing, cells, laws, privacy, relayed]
)
def test_the_same_checks_pass_without_it(checks: Checks, tmp_path: Path) -> None:
    """Each accuses a good client with a probability of 10⁻⁶ at most."""
    found = checks_of(GOOD, checks, tmp_path)
    assert found
    assert all(check.passed for check in found.values()), found


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (f"{sys.executable} {MUTANT} silent", "the end of its output"),
        (f"{sys.executable} {MUTANT} empty", "reports of"),
        ("cat", "supports no mechanism"),
        ("echo no", "an object in one line"),
    ],
)
def test_a_program_that_breaks_the_contract_fails(command: str, said: str) -> None:
    found = list(conform(command, 1000))
    assert any(check.passed is False for check in found)
    assert said in "\n".join(f"{check.name}: {check.detail}" for check in found)
