"""What independent runs in a sampled world found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.policy import Action
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.regret import standard_error
from ldprl.simulation.rows import Rows, plotted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Rollouts(Rows):
    """What independent runs learnt in one world.

    Attributes
    ----------
    name
        What the world is called.
    epsilon
        What each user's report may cost; infinite without privacy.
    users, earned
        How many users there were after each version, of shape (versions,), and what those of each
        version earned on average, of shape (runs, versions).
    looks, worth
        After how many users the learnt policy was looked at, of shape (looks,), and its mean return
        in fresh episodes, of shape (runs, looks).
    policies
        The policy that each run would hand over.
    best
        The largest mean return of any policy, where it is known.
    unscaled
        Features without bounds, which entered as they are.
    seconds
        How long the simulation took.
    complete
        Whether nobody stopped it. Else these are the runs that were over by then, or if there are
        none the one that was furthest.
    """

    name: str
    epsilon: float
    users: IntArray
    earned: FloatArray
    looks: IntArray
    worth: FloatArray
    policies: tuple[ParametricPolicy, ...]
    best: float | None
    unscaled: tuple[str, ...]
    seconds: float
    complete: bool = True

    @property
    def mean_return(self) -> FloatArray:
        """What users earned, on average over all of a run."""
        mean: FloatArray = self.earned @ np.diff(self.users, prepend=0) / self.users[-1]
        return mean

    @property
    def start_return(self) -> float:
        """What the policy is worth that all runs start from."""
        return float(self.worth[:, 0].mean())

    @property
    def final_return(self) -> FloatArray:
        """What the policy to hand over is worth, of each run, in fresh episodes."""
        return self.worth[:, -1]

    @property
    def regret(self) -> FloatArray | None:
        """What users lost against the best policy, in all; None where that is not known."""
        return None if self.best is None else self.users[-1] * (self.best - self.mean_return)

    @property
    def learned(self) -> FloatArray | None:
        """The share of the gap between start and best that is closed, where the best is known."""
        if self.best is None or self.best <= self.start_return:
            return None
        share: FloatArray = (self.final_return - self.start_return) / (
            self.best - self.start_return
        )
        return share

    @property
    def curve(self) -> tuple[IntArray, FloatArray]:
        """Numbers of users, and what the learnt policy is worth then, on average over runs."""
        return self.looks, self.worth.mean(axis=0)

    def policy(self, observation: object) -> Action:
        """Return what the policy of the first run tells somebody who sees ``observation``."""
        return self.policies[0].act(0, observation)

    def columns(self) -> dict[str, Array]:
        """Return one row for each run and look: run, users and mean return."""
        runs, looks = self.worth.shape
        return {
            "run": np.repeat(np.arange(runs), looks),
            "users": np.tile(self.looks, runs),
            "mean_return": self.worth.ravel(),
        }

    def document(self) -> dict[str, Any]:
        """Return what programs read as plain values, one for each run; without the curves."""
        problem, losses, shares = self.policies[0].problem, self.regret, self.learned
        scales = {one.name: one.scale for one in problem.features.each if not one.categories}
        return {
            "regret": None if losses is None else losses.tolist(),
            "mean_return": self.mean_return.tolist(),
            "final_return": self.final_return.tolist(),
            "final_value": self.final_return.tolist(),
            "start_value": self.start_return,
            "best_value": self.best,
            "learned": None if shares is None else shares.tolist(),
            "episodes": int(self.users[-1]),
            "complete": self.complete,
            "policy": problem.name,
            "parameters": problem.size,
            "horizon": problem.horizon,
            "return_range": list(problem.returns),
            "scales": scales,
            "unscaled": list(self.unscaled),
            "seconds": self.seconds,
        }

    def plot(self) -> Figure:
        """Draw what the learnt policy is worth against the number of users."""
        figure = plotted(self.looks, self.worth, self._privacy, "mean return of the policy")
        (axes,) = figure.axes
        if self.best is not None:
            axes.axhline(self.best, color="#6b6b6b", linestyle=":", label="best policy")
            axes.legend(frameon=False)
        axes.set_title(self.name)
        return figure

    @property
    def _privacy(self) -> str:
        return f"ε = {self.epsilon:g}" if math.isfinite(self.epsilon) else "no privacy"

    def __str__(self) -> str:
        """Three lines: what ran, what was learnt, what it cost; and a default scale, if any."""
        runs, final = len(self.worth), self.final_return
        error = f" ± {float(standard_error(final)):.2g}" if runs > 1 else ""
        best = "" if self.best is None else f" (best {self.best:.4g})"
        losses = self.regret
        lost = "" if losses is None else f", regret {losses.mean():.4g}"
        scaled = ""
        if self.unscaled:
            scales = ", ".join(str(one.scale) for one in self.policies[0].problem.features.each)
            scaled = f"\nwithout bounds: {', '.join(self.unscaled)}; scaled by scale=({scales})"
        return (
            f"{self.name}: {runs} run{'s' * (runs > 1)} of {self.users[-1]:,} users, "
            f"{self._privacy}\n"
            f"the policy is worth {final.mean():.4g}{error}, at the start {self.start_return:.4g}"
            f"{best}\n"
            f"users earned {self.mean_return.mean():.4g} on average{lost}; {self.seconds:.1f} s"
            f"{scaled}"
        )
