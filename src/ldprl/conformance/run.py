"""All checks of one client program, in order."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from ldprl.conformance.cells import cells
from ldprl.conformance.chance import laws, numbers, privacy
from ldprl.conformance.delivery import budgets, delivery, served_by
from ldprl.conformance.exact import exact
from ldprl.conformance.hostile import refusals
from ldprl.conformance.network import network
from ldprl.conformance.program import Program, ProgramError
from ldprl.conformance.relayed import relayed
from ldprl.conformance.served import served
from ldprl.conformance.subject import Check, Subject

SAMPLES = 20_000
"""Reports of each of two users, where nothing else is said."""


def conform(command: str, samples: int = SAMPLES) -> Iterator[Check]:
    """Yield the checks as they are made; the first one that the program dies in is the last."""
    with Program(command) as program, tempfile.TemporaryDirectory() as folder:
        name = "contract"
        program.start()
        try:
            subject = Subject(program, Path(folder), samples)
            said = program.call("features").get("supports")
            known = {case["document"]["mechanism"] for case in subject.vectors["deployments"]}
            if not isinstance(said, list) or not known & {*said}:
                yield Check(name, False, f"supports no mechanism: {said}")
                return
            subject.supports = frozenset(said)
            yield Check(name, True, "supports " + ", ".join(sorted(subject.supports)))
            for check in _all(subject):
                name = f"after {check.name}"
                yield check
        except KeyError as error:
            yield Check(name, False, f"no {error} in an answer or a report")
        except (ProgramError, TypeError, ValueError) as error:
            # What it wrote is not what the contract says.
            yield Check(name, False, f"{type(error).__name__}: {error}")


def _all(subject: Subject) -> Iterator[Check]:
    yield from exact(subject)
    yield from refusals(subject)
    yield from cells(subject)
    good = served_by(next(case for case in subject.deployments()))
    yield from delivery(subject, *good)
    yield from network(subject, *good)
    if "budget" in subject.supports:
        yield from budgets(subject, *good)
    if "relay" in subject.supports:
        yield from relayed(subject)
    yield from numbers(subject, *good)
    yield from laws(subject)
    yield from privacy(subject)
    yield from served(subject)
