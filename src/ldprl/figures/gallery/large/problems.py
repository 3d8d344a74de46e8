"""The problems, from a bandit to hundreds of states, and who learns in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ldprl.catalogue import recommended
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import NamedMDP, baseline, first_draw, private
from ldprl.figures.settings import Settings
from ldprl.mdp.specification import mdp_from
from ldprl.mdp.tabular import TabularMDP
from ldprl.structure import Structure

EPSILON = 2.0
REPLAN = "growth:0.05"
OURS = {"ldp-returns": "return-bits", "ldp-evi": "subset-selection", "ldp-ts": "subset-selection"}
RIVALS = ("ldp-obi", "private-ucb-vi", "dp-ucbvi")
FEW, SOME = 25, 100
"""Up to FEW states all play; up to SOME one rival does, and LDP-EVI without privacy. With more, a
plan for a model takes seconds."""


@dataclass(frozen=True)
class Problem:
    """An MDP with the most users and runs that it is simulated with."""

    title: str
    name: str
    build: Callable[[], TabularMDP]
    users: int = 10**8
    runs: int = 10

    def cells(self, settings: Settings, *, everybody: bool = True) -> list[Cell]:
        """Return the cells of those who learn here, the recommended learner first."""
        at = NamedMDP(self.name, self.build())
        states, first = at.mdp.shape.states, recommended(at.mdp.shape)
        names = [first]
        if everybody and states <= FEW:
            names += [name for name in (*OURS, *RIVALS) if name != first]
        elif states <= SOME:
            names += RIVALS[:1]
        found = [
            private(settings, at, name, OURS.get(name, "laplace"), EPSILON, "sound")
            for name in names
        ]
        if states <= SOME:
            found.append(baseline(settings, at, "ldp-evi", "sound"))
        runs, users = min(self.runs, settings.runs), min(self.users, settings.episodes)
        return [replace(cell, episodes=users, runs=runs, replan=REPLAN) for cell in found]


def bandit(*means: float) -> TabularMDP:
    """Return one state in which action a pays 1 with probability ``means[a]``."""
    return TabularMDP(np.ones((1, len(means), 1)), np.array([means]), 1, reward_kind="bernoulli")


def _named(title: str, name: str, users: int = 10**8, runs: int = 10) -> Problem:
    return Problem(title, name, lambda: mdp_from(name), users, runs)


def problems() -> list[Problem]:
    """Return all problems whose packages are installed, the smallest first."""
    found = [
        Problem("bandit 0.9, 0.7", "bandit 0.9, 0.7", lambda: bandit(0.9, 0.7), 10**6, 100),
        Problem("bandit 0.5, 0.4", "bandit 0.5, 0.4", lambda: bandit(0.5, 0.4), 10**6, 100),
        _named("Random 2×2×2", first_draw().name),
        _named("RiverSwim", "riverswim:6,20"),
        _named("Random 10×3×5", "random:10,3,5,0"),
        _named("Random 25×4×10", "random:25,4,10,0", 10**7),
        _named("grid 5×5", "grid:5,5,10", 10**7),
        _named("grid 7×7", "grid:7,7,14", 10**7),
        _named("grid 10×10", "grid:10,10,20", 10**7, 3),
        _named("Random 100×4×10", "random:100,4,10,0", 10**7, 3),
        _named("Random 400×4×10", "random:400,4,10,0", 10**7, 3),
    ]
    if find_spec("gymnasium"):
        found += [
            _named("FrozenLake", "gym:FrozenLake-v1,10", 10**7),
            _named("CliffWalking", "gym:CliffWalking-v1,30", 10**7, 3),
            _named("Taxi", "gym:Taxi-v3,50" if not _has("Taxi-v4") else "gym:Taxi-v4,50", 10**7, 3),
        ]
    if find_spec("icu_sepsis"):
        found += [
            Problem("ICU-Sepsis", "icu-sepsis", icu_sepsis, 10**7, 3),
            Problem("ICU-Sepsis, admissible actions", "icu-sepsis, known", _icu_known, 10**7, 3),
        ]
    return found


def _has(name: str) -> bool:
    import gymnasium

    return name in gymnasium.registry


def icu_sepsis() -> TabularMDP:
    """Return ICU-Sepsis 2 (package icu-sepsis): 20 decisions, then 1 for those who survive.

    The package pays on reaching state 714; here a visit of that state pays, a step later.
    """
    spec = find_spec("icu_sepsis")
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(next(iter(spec.submodule_search_locations)))
    with np.load(folder / "envs" / "assets" / "dynamics.npz", allow_pickle=False) as arrays:
        moves, start = arrays["tx_mat"], arrays["d_0"]
    rewards = np.zeros(moves.shape[:2])
    rewards[714] = 1
    return TabularMDP(moves / moves.sum(-1, keepdims=True), rewards, 21, start / start.sum())


def _icu_known() -> TabularMDP:
    """Return the same with its admissible actions: the others are all one mean of these."""
    mdp = icu_sepsis()
    listed = []
    for rows in mdp.transitions:
        kinds = [row.round(10).tobytes() for row in rows]
        (common, times), *_ = Counter(kinds).most_common(1)
        different = [kinds.index(kind) for kind in dict.fromkeys(kinds) if kind != common]
        listed.append(different if different and times > 1 else sorted(map(kinds.index, {*kinds})))
    known = Structure.from_document({"admissible": listed}, mdp.shape)
    return replace(mdp, structure=known)
