"""A fake service, a client of it whose waits take no time, and an app's world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ldprl import Shape, Trajectory
from ldprl.client import Client
from ldprl.conformance.scripted import running
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.protocol.deployment import Deployment

from .fake import FakeService

SHAPE = Shape(3, 2, 3)
DEPLOYMENT = Deployment("tests", SHAPE, "1")


@pytest.fixture
def service() -> Iterator[FakeService]:
    with running(FakeService(DEPLOYMENT)) as fake:
        yield fake


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports.ledger"


@pytest.fixture
def waits() -> list[float]:
    """How long the client has waited between attempts."""
    return []


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Trajectory]:
    """The trajectories that were privatized."""
    trajectories: list[Trajectory] = []
    privatize = SubsetSelection.privatize

    def spy(self: SubsetSelection, trajectory: Trajectory, *rest: Any) -> Any:
        trajectories.append(trajectory)
        return privatize(self, trajectory, *rest)

    monkeypatch.setattr(SubsetSelection, "privatize", spy)
    return trajectories


MakeClient = Callable[..., Client]


@pytest.fixture
def make_client(service: FakeService, path: Path, waits: list[float]) -> Iterator[MakeClient]:
    made = []

    def make(**options: Any) -> Client:
        defaults: dict[str, Any] = {
            "digest": DEPLOYMENT.digest,
            "ledger": path,
            "wait": waits.append,
        }
        made.append(Client(options.pop("url", service.url), **(defaults | options)))
        return made[-1]

    yield make
    for client in made:
        client.close()


def step(state: int, action: int) -> tuple[float, int]:
    """Walk round the states; every other one is worth something."""
    return float(state % 2), (state + 1) % SHAPE.states
