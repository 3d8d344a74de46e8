"""Kernels of one's own are compiled as the package's are; what is compiled shares nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite.binding import Linkage
from numba import njit

from ldprl.kernels import compiling
from ldprl.kernels.compiling import entry_of, kernel
from ldprl.kernels.draws import binomial
from ldprl.shape import Array


@kernel
def _checked(value: float) -> float:
    if value < 0:
        raise ValueError("below zero")
    return value


def _twice(value: float) -> float:
    return 2 * _checked(value)


def test_somebodys_own_kernel_may_raise() -> None:
    own: Any = type("Own", (), {"twice": staticmethod(_twice), "__module__": __name__})()
    compiled = entry_of(own, "twice")
    assert compiled(1.5) == 3
    with pytest.raises(ValueError, match="below zero"):
        compiled(-1.0)


def _linkages() -> set[Linkage]:
    """Compile something that calls a kernel of the package, and return how it is linked."""

    def draw(stream: Array) -> float:
        return binomial(1e6, 0.3, stream)

    compiled: Any = njit(draw)
    compiled(np.arange(1, 5, dtype=np.uint64))
    (found,) = compiled.overloads.values()
    return {one.linkage for one in found.library.get_defined_functions()}


def test_what_is_compiled_calls_its_own_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that knows no function as the package's leaves copies that others may replace."""
    assert Linkage.linkonce_odr not in _linkages()
    monkeypatch.setattr(compiling, "_OURS", "nothing")
    assert Linkage.linkonce_odr in _linkages()


_RUNS = """
from ldprl import LDPReturns, ReturnBits, random_mdp, simulate
for seed in range(1000, 1016):
    mdp = random_mdp(2, 2, 2, seed=seed)
    mechanism = ReturnBits(mdp.shape, 1.0)
    run = simulate(mdp, LDPReturns(mechanism), mechanism, 10**8, seed=seed, replan="growth:0.1")
    print(run.regret[0])
"""


@pytest.mark.slow
def test_a_process_that_compiles_has_the_runs_of_one_that_finds_all_compiled(
    tmp_path: Path,
) -> None:
    """Such a learner decides by the last digit now and then: some of 16 runs would differ."""
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, again = (
        subprocess.check_output([sys.executable, "-c", _RUNS], env=variables, text=True)
        for _ in range(2)
    )
    assert len(first.split()) == 16
    assert first == again
