"""Who may see what: the learner never a trajectory, the user's side nothing heavier than numpy."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from types import ModuleType

import ldprl
import ldprl.accounting
import ldprl.bounds
import ldprl.learning
import ldprl.mechanisms

HEAVY = {"scipy", "numba", "matplotlib", "typer", "rich", "pyarrow", "ray", "starlette", "uvicorn"}
USERS_SIDE = (
    "Trajectory", "Laplace", "Gaussian", "RandomizedResponse", "BoundedNoise", "Shuffle",
    "NoPrivacy", "SubsetSelection", "Mechanism", "CountingMechanism", "Shape", "Assignment",
    "InputError",
)  # fmt: skip


def loaded_by(program: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after ``program``."""
    ending = "\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program + ending], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def modules_of(package: ModuleType) -> list[str]:
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [package.__name__, *(module.name for module in found)]


def test_the_learners_side_never_sees_a_trajectory() -> None:
    names = modules_of(ldprl.learning) + modules_of(ldprl.bounds) + ["ldprl.statistics"]
    assert len(names) > 8
    loaded = loaded_by("\n".join(f"import {name}" for name in names))
    assert set(names) <= loaded
    assert "ldprl.mechanisms.trajectory" not in loaded
    assert not any(name.startswith("ldprl.simulation") for name in loaded)


def test_the_users_side_needs_numpy_alone() -> None:
    names = modules_of(ldprl.mechanisms) + modules_of(ldprl.accounting)
    modules = "\n".join(f"import {name}" for name in names)
    loaded = loaded_by(f"{modules}\nfrom ldprl import {', '.join(USERS_SIDE)}")
    assert "ldprl.mechanisms.trajectory" in loaded
    assert not HEAVY & {name.partition(".")[0] for name in loaded}
    for side in ("learning", "simulation", "mdp", "cli", "bounds"):
        assert not any(name.startswith(f"ldprl.{side}") for name in loaded)


def test_privatizing_and_decoding_load_nothing_more() -> None:
    program = """
import numpy as np
from ldprl import Assignment, Gaussian, Shape, Trajectory
from ldprl.mechanisms.sampling import SystemSource
mechanism, assignment = Gaussian(Shape(2, 2, 2), 1.0, 0.1), Assignment(np.zeros((2, 2), int))
report = mechanism.privatize(Trajectory([0, 1], [0, 0], [1, 0]), assignment, SystemSource())
mechanism.decode(report, 1, assignment)
"""
    assert not HEAVY & {name.partition(".")[0] for name in loaded_by(program)}


def test_every_public_name_is_found() -> None:
    for name in ldprl.__all__:
        assert getattr(ldprl, name) is not None
    assert set(ldprl.__all__) <= set(dir(ldprl))
