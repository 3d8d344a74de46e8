"""A grid on a real Ray cluster of two nodes, both on this machine."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ldprl.errors import InputError
from ldprl.experiments import cells_of, cluster, run_experiment
from ldprl.experiments.cells import AnyCell, StoppedError
from ldprl.experiments.schema import parse

GRID = """
environments = ["random:3,2,3,1", "riverswim:3,4"]
learners = ["ucb-vi", "ldp-obi"]
mechanisms = ["laplace"]
epsilons = [0.5, 2]
seeds = [{}]
episodes = {}
replan = "each"
"""
# Planning for 64 states takes its time, compiled or not.
LONG = f"""
environments = ["random:64,4,10,1"]
learners = ["ldp-obi"]
mechanisms = ["laplace"]
epsilons = [0.5]
seeds = {list(range(30))}
episodes = 60
replan = "each"
"""

SAMPLED = """
environments = ["CartPole-v1"]
policies = ["linear", "network"]
learners = ["ldp-es"]
mechanisms = ["threshold-bits"]
epsilons = [1, 2]
seeds = [0, 1, 2]
episodes = 500
horizon = 50
"""

HAS_RAY = importlib.util.find_spec("ray") is not None
if not HAS_RAY:
    warnings.warn("Ray is missing: nothing is tested on a cluster (ldprl[cluster])", stacklevel=1)
on_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray is missing: pip install 'ldprl[cluster]'")


def cells() -> list[AnyCell]:
    return list(cells_of(parse(GRID.format("0, 1", 5)), Path()))


def test_tasks_are_of_a_second_or_more_and_no_core_is_idle_for_it() -> None:
    assert cluster._group_size(1000, 8, float("inf")) == 125
    assert cluster._group_size(1000, 8, 2.0) == 125
    assert cluster._group_size(1000, 8, 0.004) == 250
    assert cluster._group_size(10, 8, 0.001) == 10
    assert cluster._group_size(3, 8, 2.0) == 1
    assert cluster._group_size(10**6, 8, 2.0) == 1000


def test_task_hands_back_what_a_second_had_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that shows 0.3 s more at each look, the fourth look after a cell is too late."""
    import ldprl

    some = cells()
    # A clock that stands still: compiling may take any time.
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    assert len(cluster._compute_some(some, ldprl.__version__)) == len(some)
    ticks = count()
    monkeypatch.setattr(time, "monotonic", lambda: 0.3 * next(ticks))
    assert len(cluster._compute_some(some, ldprl.__version__)) == 3


def test_node_with_another_version_is_refused() -> None:
    with pytest.raises(StoppedError, match="not 999"):
        cluster._compute_some(cells(), "999")


def test_missing_ray_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'ldprl\[cluster\]'"):
        next(cluster.on_cluster(cells(), "auto"))


@on_ray
@pytest.mark.slow
def test_address_that_does_not_answer_is_refused() -> None:
    """Ray itself would end the process after minutes; on a busy machine a child starts slowly."""
    with socket.create_server(("", 0)) as silent:
        addresses = [f"127.0.0.1:{silent.getsockname()[1]}", "127.0.0.1:1", "nonsense"]
        for address in addresses:
            started = time.monotonic()
            with pytest.raises(InputError, match=f"cluster = '{address}'"):
                next(cluster.on_cluster(cells(), address))
            assert time.monotonic() - started < cluster._PATIENCE + 60


@pytest.fixture
def two_nodes() -> Iterator[Any]:
    """A cluster whose head and one more node have a core each."""
    from ray.cluster_utils import Cluster

    nodes: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield nodes
    nodes.shutdown()


def command(path: Path, out: Path, address: str) -> list[str]:
    options = ["--out", str(out), "--cluster", address]
    return [sys.executable, "-m", "ldprl", "run", str(path), *options]


@on_ray
@pytest.mark.slow
@pytest.mark.parametrize("grid", [GRID.format("0, 1, 2", 50), SAMPLED], ids=["mdps", "sampled"])
def test_two_nodes_give_the_table_that_one_machine_gives(
    grid: str, two_nodes: Any, tmp_path: Path
) -> None:
    two_nodes.add_node(num_cpus=1)
    path = tmp_path / "grid.toml"
    path.write_text(grid, encoding="utf-8")
    local = run_experiment(path, tmp_path / "local", workers=1)
    subprocess.run(command(path, tmp_path / "ray", two_nodes.address), check=True)
    assert (tmp_path / "ray" / "results.parquet").read_bytes() == local.read_bytes()


@on_ray
@pytest.mark.slow
def test_loss_of_a_node_loses_no_cell_and_gives_none_twice(two_nodes: Any, tmp_path: Path) -> None:
    lost = two_nodes.add_node(num_cpus=1)
    path, out = tmp_path / "grid.toml", tmp_path / "ray"
    path.write_text(LONG, encoding="utf-8")
    with subprocess.Popen(command(path, out, two_nodes.address)) as run:
        while not list((out / "cells").glob("*.parquet")):
            assert run.poll() is None, "the run ended before a node could be lost"
            time.sleep(0.01)
        two_nodes.remove_node(lost, allow_graceful=False)
        finished = len(list((out / "cells").glob("*.parquet")))
        assert run.wait(timeout=1000) == 0
    assert finished < 30, "the node was lost too late"
    local = run_experiment(path, tmp_path / "local", workers=1)
    rows = pq.read_table(out / "results.parquet")
    assert rows.equals(pq.read_table(local))
    assert rows.group_by(["seed", "episodes"]).aggregate([]).num_rows == rows.num_rows
