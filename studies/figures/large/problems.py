"""The problems, from a bandit to hundreds of states, and who learns in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ldprl.catalogue import recommended_learner
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import NamedMDP, cell_of, draws
from ldprl.figures.gallery.sizes.compare import EPSILON, REPLAN, private_cell
from ldprl.figures.settings import Settings
from ldprl.structure import Structure
from ldprl.worlds.specification import mdp_from
from ldprl.worlds.tabular import TabularMDP

MODELS = ("ldp-evi", "ldp-ts")
RIVALS = ("ldp-obi", "studies.rivals:PrivateUCBVI", "studies.rivals:DPUCBVI")
FEW, SOME = 10, 25
"""Up to FEW states all play; up to SOME LDP-OBI does, and LDP-EVI without privacy. With more, a run
of a learner with a model takes minutes."""

_USERS = 10**7
"""Of most problems: a run then takes seconds, or minutes with hundreds of states."""


@dataclass(frozen=True)
class Problem:
    """Worlds of one kind, with the most users and runs that each of them is simulated with.

    Attributes
    ----------
    title
        What table and pictures call it.
    worlds
        Builds them: one, or several draws.
    users, runs
        Upper limits; ``runs`` are those of each world.
    epsilons
        The ε of the recommended learner.
    """

    title: str
    worlds: Callable[[], list[NamedMDP]]
    users: int = _USERS
    runs: int = 1
    epsilons: tuple[float, ...] = (EPSILON,)

    def cells(self, settings: Settings) -> list[Cell]:
        """Return the cells of those who learn here, the recommended learner first."""
        found = [cell for at in self.worlds() for cell in self._cells_in(settings, at)]
        runs, users = min(self.runs, settings.runs), min(self.users, settings.episodes)
        return [replace(cell, episodes=users, runs=runs, replan=REPLAN) for cell in found]

    def _cells_in(self, settings: Settings, at: NamedMDP) -> list[Cell]:
        shape = at.mdp.shape
        states, first = shape.states, recommended_learner(shape, EPSILON, self.users)
        players = [(recommended_learner(shape, one, self.users), one) for one in self.epsilons]
        if states <= SOME:
            players += [(RIVALS[0], epsilon) for epsilon in self.epsilons]
        if states <= FEW:
            players += [(name, EPSILON) for name in (*MODELS, *RIVALS[1:]) if name != first]
        found = [private_cell(settings, at, name, epsilon) for name, epsilon in players]
        if states <= SOME:
            found.append(cell_of(settings, at, "ldp-evi", "sound"))
        return found


def bandit(*means: float) -> NamedMDP:
    """Return one state in which action a pays 1 with probability ``means[a]``."""
    rewards = np.array([means])
    mdp = TabularMDP(np.ones((1, len(means), 1)), rewards, 1, reward_kind="bernoulli")
    return NamedMDP(f"bandit {', '.join(map(str, means))}", mdp)


def _bandit(*means: float) -> Problem:
    at = bandit(*means)
    return Problem(at.name, lambda: [at], 10**6, 1000, (1.0, EPSILON))


def _named(title: str, *names: str, users: int = _USERS, runs: int = 1) -> Problem:
    return Problem(title, lambda: [NamedMDP(name, mdp_from(name)) for name in names], users, runs)


def _drawn(states: int, actions: int, horizon: int, count: int, users: int = _USERS) -> Problem:
    names = [f"random:{states},{actions},{horizon},{seed}" for seed in range(count)]
    return _named(f"Random {states}×{actions}×{horizon}", *names, users=users)


def problems() -> list[Problem]:
    """Return all problems whose packages are installed, the smallest first."""
    small = Problem(
        "Random 2×2×2", lambda: [at for at, _ in zip(draws(), range(20), strict=False)], 10**8
    )
    found = [
        _bandit(0.9, 0.7),
        _bandit(0.5, 0.4),
        replace(small, epsilons=(0.2, EPSILON, 20.0)),
        _named("RiverSwim", "riverswim:6,20", runs=3),
        _drawn(10, 3, 5, 3),
        _drawn(25, 4, 10, 5, users=10**8),
        _named("grid 5×5", "grid:5,5,10", runs=3),
        _named("grid 7×7", "grid:7,7,14", users=10**8, runs=2),
        _named("grid 10×10", "grid:10,10,20"),
        _drawn(100, 4, 10, 5),
        _drawn(400, 4, 10, 1),
    ]
    if find_spec("gymnasium"):
        lake = _named("FrozenLake", "gym:FrozenLake-v1,10", users=10**8)
        found += [
            replace(lake, epsilons=(1.0, EPSILON, 4.0)),
            _named("CliffWalking", "gym:CliffWalking-v1,30", users=10**8),
            _named("Taxi", f"gym:{_newest('Taxi')},50", users=10**8),
        ]
    if find_spec("icu_sepsis"):
        found += [
            Problem("ICU-Sepsis", lambda: [_icu()], 10**8, epsilons=(1.0, 4.0)),
            Problem("ICU-Sepsis, admissible", lambda: [_icu_known()], 10**8, epsilons=(1.0, 4.0)),
        ]
    return found


def _newest(name: str) -> str:
    """Return the newest version of an environment that the installed Gymnasium has."""
    import gymnasium

    return max(one for one in gymnasium.registry if one.startswith(f"{name}-v"))


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


def _icu() -> NamedMDP:
    return NamedMDP("icu-sepsis", icu_sepsis())


def _icu_known() -> NamedMDP:
    """Return the same with its admissible actions: the others are all one mean of these."""
    mdp = icu_sepsis()
    listed = []
    for rows in mdp.transitions:
        kinds = [row.round(10).tobytes() for row in rows]
        (common, times), *_ = Counter(kinds).most_common(1)
        different = [kinds.index(kind) for kind in dict.fromkeys(kinds) if kind != common]
        listed.append(different if different and times > 1 else sorted(map(kinds.index, {*kinds})))
    known = Structure.from_document({"admissible": listed}, mdp.shape)
    return NamedMDP("icu-sepsis, known", replace(mdp, structure=known))
