"""The worlds of the suite, by question, and the seeds that only reports use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import count, islice

from ldprl.figures.cells import LEAST_GAP, gap
from ldprl.shape import Shape
from ldprl.worlds.specification import mdp_from
from ldprl.worlds.tabular import TabularMDP

VERSION = 1
"""Of the list of worlds, ε, learners, users and runs: scores of different versions differ."""
REPORTING = range(731_000_000, 731_010_000)
"""Seeds of runs and of drawn worlds, for reporting only: nothing is tried or tuned on them."""
_DRAWS = REPORTING[1000]
EPSILONS = (0.5, 1.0, 2.0, 4.0, None)
"""ε of a report; None is no privacy."""
QUESTIONS = ("exploration", "size", "sparse rewards", "noise", "features")


@dataclass(frozen=True)
class World:
    """A world of the suite, or several drawn ones.

    Attributes
    ----------
    name, title
        For commands and for readers.
    questions
        Which of ``QUESTIONS`` it asks.
    sources
        Names of its MDPs (:func:`ldprl.worlds.specification.mdp_from`), or of its problem of
        ``studies.figures.any_policy``.
    users
        Of a run.
    cells, runs
        How often a learner is run in each source: in so many cells, which are kept one by one, of
        so many runs each.
    shape
        The sizes of its tables; None where states are features.
    bounded
        Whether the lower bound of the instance is computed.
    package
        What has to be installed.
    replan
        When plans are made.
    """

    name: str
    title: str
    questions: tuple[str, ...]
    sources: Callable[[], tuple[str, ...]]
    users: int
    cells: int = 1
    runs: int = 1
    shape: Shape | None = None
    bounded: bool = False
    package: str | None = None
    replan: str = "growth:0.1"

    @property
    def states(self) -> int:
        """How many states a table has; 0 where states are features."""
        return 0 if self.shape is None else self.shape.states


def _named(*names: str) -> Callable[[], tuple[str, ...]]:
    return lambda: names


def _drawn(sizes: str, number: int) -> Callable[[], tuple[str, ...]]:
    """Return the first draws in which something can be learnt."""

    @cache
    def sources() -> tuple[str, ...]:
        names = (f"random:{sizes},{seed}" for seed in count(_DRAWS))
        return tuple(islice((name for name in names if gap(mdp_from(name)) > LEAST_GAP), number))

    return sources


_NOISE, _EXPLORATION, _SPARSE = ("noise",), ("exploration",), ("sparse rewards",)
_SIZE, _FEATURES = ("size",), ("features",)
_ARMS = Shape(1, 2, 1)
WORLDS = (
    World(
        "bandit", "bandit 0.9, 0.7", _NOISE, _named("bandit:0.9,0.7"), 10**6, 1, 100, _ARMS, True
    ),
    World("close", "bandit 0.5, 0.4", _NOISE, _named("bandit:0.5,0.4"), 10**6, 1, 100, _ARMS, True),
    World(
        "contexts",
        "contexts 2×2",
        _NOISE,
        _named("contexts:0.9,0.6/0.3,0.5"),
        10**6,
        1,
        100,
        Shape(2, 2, 1),
        True,
    ),
    World(
        "random-2", "Random 2×2×2", _NOISE, _drawn("2,2,2", 20), 10**7, 1, 5, Shape(2, 2, 2), True
    ),
    World(
        "random-3",
        "Random 3×3×3",
        _NOISE,
        _drawn("3,3,3", 20),
        10**7,
        shape=Shape(3, 3, 3),
        bounded=True,
    ),
    World(
        "random-5",
        "Random 5×3×5",
        _SIZE,
        _drawn("5,3,5", 20),
        10**7,
        shape=Shape(5, 3, 5),
        bounded=True,
    ),
    World("random-10", "Random 10×3×5", _SIZE, _drawn("10,3,5", 20), 10**7, shape=Shape(10, 3, 5)),
    World(
        "riverswim",
        "RiverSwim(6, 20)",
        _EXPLORATION,
        _named("riverswim:6,20"),
        10**7,
        20,
        shape=Shape(6, 2, 20),
        bounded=True,
    ),
    World(
        "random-25", "Random 25×4×10", _SIZE, _drawn("25,4,10", 20), 10**7, shape=Shape(25, 4, 10)
    ),
    World(
        "random-100",
        "Random 100×4×10",
        _SIZE,
        _drawn("100,4,10", 5),
        10**7,
        shape=Shape(100, 4, 10),
    ),
    World("grid-5", "grid 5×5", _SPARSE, _named("grid:5,5,10"), 10**7, 20, shape=Shape(25, 4, 10)),
    World("grid-7", "grid 7×7", _SPARSE, _named("grid:7,7,14"), 10**7, 5, shape=Shape(49, 4, 14)),
    World(
        "frozen-lake",
        "FrozenLake",
        (*_EXPLORATION, *_SPARSE),
        _named("gym:FrozenLake-v1,10"),
        10**7,
        20,
        shape=Shape(12, 4, 10),
        package="gymnasium",
    ),
    World(
        "taxi",
        "Taxi",
        (*_SIZE, *_SPARSE),
        _named("gym:Taxi-v4,50"),
        10**7,
        5,
        shape=Shape(401, 6, 50),
        package="gymnasium",
        replan="growth:0.5",
    ),
    World(
        "icu-sepsis",
        "ICU-Sepsis, admissible actions",
        (*_SIZE, *_SPARSE),
        _named("icu-sepsis"),
        10**7,
        5,
        shape=Shape(716, 25, 20),
        package="icu_sepsis",
        replan="growth:0.5",
    ),
    World("cartpole", "CartPole-v1", _FEATURES, _named("cartpole"), 20_000, 20),
    World("glucose", "glucose", _FEATURES, _named("glucose"), 10**5, 20),
    World("movies", "MovieLens, 20 movies", _FEATURES, _named("movies"), 10**5, 20),
)


def available(world: World) -> bool:
    """Return whether what the world needs is on this machine."""
    if world.states == 0:
        from studies.figures.any_policy.problems import PROBLEMS

        return next(one for one in PROBLEMS if one.name == world.name).available
    return world.package is None or find_spec(world.package) is not None


def table_of(source: str) -> TabularMDP:
    """Return the MDP of a source."""
    if source != "icu-sepsis":
        return mdp_from(source)
    from studies.figures.large.problems import problems

    known = next(one for one in problems() if one.title == "ICU-Sepsis, admissible")
    return known.worlds()[0].mdp
