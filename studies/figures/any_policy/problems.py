"""The problems of any policy: environments that can only be sampled, and bandits with contexts.

One parametrization and one rule of scaling for all: policies are linear with a bias, or have one
hidden layer of tanh units; where actions have features of their own, their weights are shared. The
unit σ₀ is 1. An environment's observations are scaled as :mod:`ldprl.worlds.named` states, which
was there before. Vectors of contexts are centred at their mean, which changes nothing where weights
are shared, and divided by the root mean square of all their entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from ldprl.policies.perturbed import Perturbed
from ldprl.shape import FloatArray
from ldprl.worlds.contexts import Contexts
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.sampled_from import sampled_from
from studies.figures.any_policy import data

_RANDOM_POLICIES = 20_000
"""Episodes that say what policies around the start are worth: a standard error below 0.4%."""
_BEST = {
    "CartPole-v1": 500.0,
    "Acrobot-v1": -75.0,
    "MountainCar-v0": -103.0,
    "glucose": 21.74,
}
"""What closes the gap. 500 is the most; -75 and -103 are about the best known of any policy, linear
or not; 21.74 is the best of four runs of 150,000 users without privacy (seeds 1000-1003)."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A world with what it is worth to act without knowledge, and what is the best."""

    world: SampledWorld
    start: float
    best: float


@dataclass(frozen=True)
class Problem:
    """A problem, and how it is run.

    Attributes
    ----------
    name, title
        For commands and for readers.
    make
        Makes the instance of a seed.
    epsilons, users, runs
        Of its cells; None is no privacy.
    package
        What has to be downloaded first, if anything.
    """

    name: str
    title: str
    make: Callable[[int], Instance]
    epsilons: tuple[float, ...]
    users: int
    runs: int = 20
    package: str | None = None

    @property
    def available(self) -> bool:
        """Whether its data are there."""
        return self.package is None or data.wheel(self.package) is not None


def environment(name: str, hidden: tuple[int, ...] | None = None) -> Callable[[int], Instance]:
    """Return what makes an environment, whose gap starts at what random policies earn."""

    @cache
    def made() -> Instance:
        world = sampled_from(name, "network" if hidden else "linear", hidden=hidden)
        problem = world.problem
        spread = np.full(problem.size, problem.spread, dtype=np.float32)
        law = Perturbed(problem, "0" * 32, problem.start, spread)
        rng = np.random.default_rng(0)
        first = world.returns(law.shifted(law.draw(rng, _RANDOM_POLICIES)), rng)
        return Instance(world, float(first.mean()), _BEST[name])

    return lambda seed: made()


def contexts(
    build: Callable[[np.random.Generator], Contexts],
    policy: str = "linear",
    returns: tuple[float, float] = (0.0, 1.0),
    best: Callable[[Contexts], float] | None = None,
    drawn: bool = True,
) -> Callable[[int], Instance]:
    """Return what makes a bandit; without ``drawn`` there is one, whatever the seed."""

    @cache
    def made(seed: int) -> Instance:
        found = build(np.random.default_rng([seed, 1]))
        world = sampled_from(found, policy, return_range=returns)
        top = world.best if best is None else best(found)
        assert top is not None
        return Instance(world, float(found.rewards.mean()), top)

    return made if drawn else lambda seed: made(0)


def scaled(features: FloatArray) -> FloatArray:
    """Return features less their mean, divided by the root mean square of all their entries."""
    centred = features - features.mean(axis=tuple(range(features.ndim - 1)))
    result: FloatArray = centred / np.sqrt(np.mean(centred**2))
    return result


def on_sphere(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Return directions drawn uniformly."""
    drawn = rng.standard_normal(shape)
    result: FloatArray = drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)
    return result


def linear_bandit(rng: np.random.Generator) -> Contexts:
    """Return 10 features and 5 arms: users and arms are directions, bits with mean (1 + xᵀθ)/2."""
    users, arms = on_sphere(rng, 60_000, 10), on_sphere(rng, 5, 10)
    return Contexts(scaled(users), 0.5 + 0.5 * users @ arms.T)


def fixed_arms(rng: np.random.Generator) -> Contexts:
    """Return Chowdhury & Zhou's (2022): 100 arms on a sphere with a bias, the same for all."""
    size = 5
    arms = np.hstack([on_sphere(rng, 100, size - 1), np.ones((100, 1))])
    arms[:size] = np.eye(size)
    arms[:size, -1] = 1
    theta = np.append(0.5 * on_sphere(rng, size - 1), 0.5)
    return Contexts(scaled(arms)[None], np.clip(arms @ theta, 0, 1)[None])


def directions(rng: np.random.Generator) -> Contexts:
    """Return Han et al.'s (2021): 10 random directions in the plane, rewards without noise."""
    seen, theta = on_sphere(rng, 100_000, 10, 2), on_sphere(rng, 2)
    return Contexts(scaled(seen), seen @ theta, "exact")


def movies(rng: np.random.Generator) -> Contexts:
    """Return Zheng et al.'s (2020): which of 20 movies, by products of singular vectors."""
    ratings = data.ratings()[:, :20]
    ratings = 0.4 * (ratings[ratings.sum(axis=1) > 0] - 2.5)
    left, sizes, right = np.linalg.svd(ratings, full_matrices=False)
    seen = left[:, None, :] * right.T[None]
    return Contexts(scaled(seen), np.clip((left * sizes) @ right, -1, 1), "exact")


def occupations(rng: np.random.Generator) -> Contexts:
    """Return Adult: which of 14 occupations, by 8 principal components of all else."""
    seen, answers = data.adult()
    return Contexts(scaled(seen), np.eye(14)[answers], "exact")


def ridge(found: Contexts) -> float:
    """Return what a ridge regression of the rewards earns on the rows that it has seen."""
    inputs = np.hstack([found.features, np.ones((len(found.features), 1))])
    square = inputs.T @ inputs + np.eye(inputs.shape[1])
    scores = inputs @ np.linalg.solve(square, inputs.T @ found.rewards)
    return float(found.rewards[np.arange(len(scores)), scores.argmax(axis=1)].mean())


def digits(rng: np.random.Generator) -> Contexts:
    """Return digits: which of 10, by 64 pixels."""
    seen, answers = data.digits()
    return Contexts(scaled(seen), np.eye(10)[answers], "exact")


PROBLEMS = (
    Problem("cartpole", "CartPole-v1", environment("CartPole-v1"), (0.5, 1.0, 2.0), 20_000),
    Problem(
        "cartpole-16",
        "CartPole-v1, 16 hidden",
        environment("CartPole-v1", (16,)),
        (1.0, 2.0),
        20_000,
    ),
    Problem("acrobot", "Acrobot-v1", environment("Acrobot-v1"), (1.0,), 30_000),
    Problem("mountain-car", "MountainCar-v0", environment("MountainCar-v0"), (1.0,), 10**5),
    Problem("glucose", "glucose", environment("glucose"), (1.0,), 10**5),
    Problem("bandit", "linear bandit 10×5", contexts(linear_bandit), (1.0,), 10**6),
    Problem(
        "movies",
        "MovieLens, 20 movies",
        contexts(movies, "shared-linear", (-1.0, 1.0), drawn=False),
        (1.0,),
        10**5,
        package=data.WIDEDEEP,
    ),
    Problem(
        "arms",
        "100 fixed arms",
        contexts(fixed_arms, "shared-linear"),
        (0.2, 1.0, 10.0),
        20_000,
        50,
    ),
    Problem(
        "adult",
        "Adult, 14 occupations",
        contexts(occupations, best=ridge, drawn=False),
        (1.0,),
        10**6,
        package=data.WIDEDEEP,
    ),
    Problem(
        "directions",
        "10 directions, no noise",
        contexts(directions, "shared-linear", (-1.0, 1.0)),
        (1.0,),
        10**6,
    ),
    Problem(
        "digits",
        "digits",
        contexts(digits, best=lambda found: 1.0, drawn=False),
        (2.0,),
        10**7,
        5,
        data.SCIKIT,
    ),
)
