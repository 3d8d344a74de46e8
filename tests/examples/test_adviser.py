"""The worked case: its world is what its generator says, and its script runs to the report."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ldprl
from ldprl import TabularMDP
from ldprl.protocol.deployment import Deployment
from ldprl.worlds.evaluation import optimum

CASE = Path(__file__).parents[2] / "examples" / "adviser"
SOURCE = Path(ldprl.__file__).parents[1]
USERS = 300


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a module of the case, which is not a package, and forget it afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(CASE)
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).parent == CASE:
            del sys.modules[name]


def test_files_are_what_the_generator_writes(
    part: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    world = part("world")
    world.write(tmp_path, world.EPSILON)
    for name in ("world.json", "deployment.toml"):
        assert (tmp_path / name).read_bytes() == (CASE / name).read_bytes()


def test_world_is_of_the_stated_numbers(part: Callable[[str], ModuleType]) -> None:
    world = part("world")
    mdp = TabularMDP.from_file(CASE / "world.json")
    assert np.abs(mdp.transitions.sum(axis=2) - 1).max() < 1e-12
    assert mdp.initial.sum() == pytest.approx(1, abs=1e-12)
    # Shares pay a well-off household in a calm market 4% ± 5%; its goal is 0.8%.
    chance = 0.5 * math.erfc((0.8 - 4) / 5 / math.sqrt(2))
    place = world.STATES.index("calm market, well off"), world.ACTIONS.index("shares")
    assert mdp.rewards[place] == pytest.approx(chance, abs=5e-5)
    # The mood goes on whatever anybody does, and is met as often as it lasts.
    sizes = (len(world.MOODS), len(world.STANDINGS), len(world.ACTIONS))
    moods = mdp.transitions.reshape(*sizes, *sizes[:2]).sum(axis=4)
    expected = np.broadcast_to(np.array(world.NEXT_MOOD)[:, None, None], moods.shape)
    rounding = 5e-5 * mdp.shape.states
    assert np.abs(moods - expected).max() < rounding
    assert np.allclose(np.array(world.FIRST_MOOD) @ np.array(world.NEXT_MOOD), world.FIRST_MOOD)


def test_nobody_gains_by_getting_poorer(part: Callable[[str], ModuleType]) -> None:
    world = part("world")
    values = optimum(world.make_world()).values[0].reshape(len(world.MOODS), -1)
    assert (np.diff(values, axis=1) > 0).all()


def test_labels_fit(part: Callable[[str], ModuleType]) -> None:
    world = part("world")
    text = (CASE / "deployment.toml").read_text(encoding="utf-8")
    deployment = Deployment.from_toml(tomllib.loads(text))
    assert deployment.shape == world.make_world().shape
    assert deployment.labels.states == world.STATES
    assert deployment.labels.actions == world.ACTIONS


def test_costs_of_decisions_add_up_to_the_loss(part: Callable[[str], ModuleType]) -> None:
    world, compare = part("world").make_world(), part("comparison").compare
    shape = world.shape
    policy = np.random.default_rng(3).integers(shape.actions, size=(shape.horizon, shape.states))
    plan = {"users": 0, "assignments": [{"share": 1.0, "policy": policy.tolist()}]}
    found = compare(world, policy, [plan])
    loss = found.best_value - found.learnt_value
    assert loss > 0
    assert found.costs.sum() == pytest.approx(loss, abs=1e-12)
    assert found.costs[found.learnt == found.best] == pytest.approx(0, abs=1e-12)
    assert found.plan_losses == pytest.approx((loss,))
    assert found.policy_loss(found.random_value) == pytest.approx(1)


def test_server_stops_when_the_run_is_broken_off(
    part: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    programs = part("programs")
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012, SIM117
        with programs.serving(CASE / "deployment.toml", tmp_path, "0" * 64) as url:
            assert programs.ask(f"{url}/v1/status")["users"] == 0
            raise KeyboardInterrupt
    with pytest.raises(OSError, match="refused"):
        programs.ask(f"{url}/v1/status")


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder for temporary files with a short name: Chromium puts a socket into it."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.slow
def test_script_ends_with_a_report(tmp_path: Path, scratch: Path) -> None:
    small = ("--users", str(USERS), "--advice-runs", "1", "--audit-samples", "2000")
    shown = subprocess.run(
        [sys.executable, str(CASE / "run.py"), *small, "--out", str(tmp_path / "out")],
        env=os.environ | {"PYTHONPATH": str(SOURCE), "TMPDIR": str(scratch)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert shown.returncode == 0, shown.stderr
    report = tmp_path / "out" / "report.html"
    assert shown.stdout == f"{report}\n"
    assert list(scratch.glob("adviser-*")) == []
    page = report.read_text(encoding="utf-8")
    assert f"{USERS:,} reports\ncounted" in page
    assert "Verdict: the claim\n<strong>holds</strong>" in page
    # The page needs nothing but itself.
    sources = re.findall(r'(?:src|href)="([^"]{0,20})', page)
    assert len(sources) >= 2
    assert all(source.startswith("data:image/") for source in sources)
    pictured = "no pictures of the dashboard" not in shown.stderr
    assert pictured == ("After 300 users: version" in page) == ("data:image/jpeg" in page)
    export = json.loads((tmp_path / "out" / "export.json").read_text(encoding="utf-8"))
    assert export["totals"]["users"] == USERS
    assert export["plans"][-1]["users"] == USERS
