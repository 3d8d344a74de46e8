"""How many users a policy with parameters takes: a formula first, then a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ldprl.errors import positive, probability, whole_number
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.shape import FloatArray
from ldprl.simulation.learn import Progress, Stop, learn
from ldprl.simulation.runs import Rollouts
from ldprl.worlds.sampled_from import sampled_from

_AT_FIRST, _MORE, _MOST = 10, 4, 10**6
"""A search begins with this many times the users of the formula, and goes on with four times as
many until they are enough, or this many."""
_AFTER = 4
"""Enough are this many times the median: runs that are later than others are seen to come."""


@dataclass(frozen=True, eq=False)
class SampledAdvice:
    """What a world that can only be sampled takes.

    Attributes
    ----------
    parameters, variance, gap
        d, v and the gap of the formula d²v/gap²: from the start to the goal, in the range of
        returns.
    target
        The share of the gap that may be left.
    goal
        The mean return of the best policy where that is known, else of what is learnt without
        privacy.
    private, free
        Runs at ε, and without privacy.
    """

    parameters: int
    variance: float
    gap: float
    target: float
    goal: float
    private: Rollouts
    free: Rollouts

    @property
    def by_formula(self) -> float:
        """About how many users it takes: d²v/gap²."""
        return self.parameters**2 * self.variance / self.gap**2 if self.gap > 0 else math.inf

    @property
    def needed(self) -> FloatArray:
        """After how many users each run stays within the target; infinite: not by the end."""
        return self._needed(self.private)

    @property
    def needed_without_privacy(self) -> FloatArray:
        """The same without privacy."""
        return self._needed(self.free)

    def _needed(self, found: Rollouts) -> FloatArray:
        start = self.private.start_return
        enough = found.worth >= self.goal - self.target * (self.goal - start)
        looks = np.append(found.looks.astype(np.float64), math.inf)
        # The look after the last one that was below.
        last = np.where(enough, -1, np.arange(enough.shape[1])).max(axis=1)
        result: FloatArray = looks[last + 1]
        return result

    def document(self) -> dict[str, Any]:
        """Return all of it as plain values; None where a run does not come that far."""
        return {
            "formula": {
                "users": _finite(self.by_formula),
                "parameters": self.parameters,
                "variance": self.variance,
                "gap": self.gap,
            },
            "epsilon": self.private.epsilon,
            "target_loss": self.target,
            "goal": self.goal,
            "users_needed": _finite(float(np.median(self.needed))),
            "users_needed_worst": _finite(float(self.needed.max())),
            "users_needed_each_run": [_finite(one) for one in self.needed.tolist()],
            "without_privacy": {
                "users_needed": _finite(float(np.median(self.needed_without_privacy))),
                "final_value": self.free.final_return.tolist(),
            },
            "simulated": self.private.document(),
        }


def advise_sampled(
    env: object,
    policy: str,
    epsilon: float,
    *,
    users: int | None = None,
    target_loss: float = 0.1,
    runs: int = 5,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    stop: Stop | None = None,
    **given: Any,
) -> SampledAdvice:
    """Forecast how many users a policy takes in a world that can only be sampled.

    Parameters
    ----------
    env, policy, given
        As :func:`~ldprl.simulation.learn.learn` takes them.
    epsilon
        What a report may cost.
    users
        How many to simulate; None: as many as are enough, up to 10⁶.
    target_loss
        The share of the gap between start and goal that may be left, in (0, 1).
    runs, seed
        Independent runs.
    progress, stop
        Called with (users done, users known of so far); looked at before each version.
    """
    positive("epsilon", epsilon)
    probability("target_loss", target_loss, zero=False)
    whole_number("runs", runs, 1, 10**3)
    if users is not None:
        whole_number("users", users, 1)
    simulated = {name: given.pop(name) for name in ("learner", "workers") if name in given}
    with closing(sampled_from(env, policy, **given)) as world:
        problem, best = world.problem, world.best
        rng = np.random.default_rng([seed, 0])
        start = world.mean_return(problem.start.astype(np.float64), rng)
    variance = ThresholdBits(problem, epsilon).variance
    low, high = problem.returns
    gap = ((high if best is None else best) - start) / (high - low)
    size = users or math.ceil(_AT_FIRST * problem.size**2 * variance / max(gap, 0.1) ** 2)
    size = size if users else min(size, _MOST)
    one = partial(learn, env, policy, runs=runs, seed=seed, stop=stop, **simulated, **given)
    done = 0
    while True:
        show = _counted(progress, done, runs * size)
        free = one(epsilon=None, users=size, progress=show(0))
        private = one(epsilon=epsilon, users=size, progress=show(1))
        goal = best if best is not None else max(float(free.final_return.mean()), start)
        share = (goal - start) / (high - low)
        found = SampledAdvice(problem.size, variance, share, target_loss, goal, private, free)
        enough = _AFTER * float(np.median(found.needed)) <= size
        if enough or users or size >= _MOST or not private.complete:
            return found
        done += 2 * runs * size
        size = min(_MORE * size, _MOST)


def _counted(
    progress: Callable[[int, int], None] | None, before: int, each: int
) -> Callable[[int], Progress | None]:
    """Return the progress of the first and the second half of 2·``each`` users after others."""

    def half(which: int) -> Progress | None:
        if progress is None:
            return None
        seen: dict[int, int] = {}

        def show(run: int, users: int) -> None:
            seen[run] = users
            progress(before + which * each + sum(seen.values()), before + 2 * each)

        return show

    return half


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
