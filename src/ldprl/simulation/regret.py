"""Cumulative regret, exact and recorded at checkpoints."""

from __future__ import annotations

import numpy as np

from ldprl.shape import FloatArray, IntArray, Policy
from ldprl.worlds.evaluation import optimum, policy_values
from ldprl.worlds.tabular import TabularMDP

_PER_DECADE = 20
"""Checkpoints in a factor of ten."""


def checkpoints(episodes: int) -> IntArray:
    """Return log-spaced numbers of episodes from 1 to ``episodes``, ends included."""
    count = max(2, round(_PER_DECADE * np.log10(max(episodes, 2))) + 1)
    points = np.geomspace(1, episodes, count)
    return np.unique(np.rint(points).astype(np.int64).clip(1, episodes))


def late_loss(points: IntArray, regret: FloatArray) -> FloatArray:
    """Return what users k/2 to k lost on average, at every checkpoint k of one run."""
    places, sums = np.concatenate([[0], points]), np.concatenate([[0.0], regret])
    half = np.interp(points / 2, places, sums)
    # A difference of large sums can miss zero by rounding.
    losses: FloatArray = np.maximum((regret - half) / (points / 2), 0.0)
    return losses


def standard_error(runs: FloatArray) -> FloatArray:
    """Return the standard error of the mean over runs, the first axis; infinite for one run."""
    if len(runs) == 1:
        return np.full(runs.shape[1:], np.inf)
    return np.asarray(runs.std(axis=0, ddof=1) / np.sqrt(len(runs)))


class Recorder:
    """Adds up a number over users, at checkpoints; within a batch each user's is the same."""

    def __init__(self, points: IntArray) -> None:
        self._points = points
        self._next = 0
        self.users = 0
        self.total = 0.0
        self.curve: FloatArray = np.zeros(len(points))

    def add(self, users: int, each: float) -> None:
        """Record ``users`` users with ``each`` on average."""
        end = self.users + users
        while self._next < len(self._points) and self._points[self._next] <= end:
            reached = self._points[self._next] - self.users
            self.curve[self._next] = self.total + reached * each
            self._next += 1
        self.users = end
        self.total += users * each


class RegretRecorder(Recorder):
    """Adds up E[V*₁ − V^{π_k}₁] over users; within a batch each user loses the same on average."""

    def __init__(self, mdp: TabularMDP, points: IntArray) -> None:
        super().__init__(points)
        self._mdp = mdp
        self._best = float(mdp.initial @ optimum(mdp).values[0])
        self._known: dict[bytes, float] = {}

    def loss(self, policy: Policy) -> float:
        """Return what one user of ``policy`` loses on average."""
        key = policy.tobytes()
        if key not in self._known:
            value = float(self._mdp.initial @ policy_values(self._mdp, policy)[0])
            self._known[key] = max(self._best - value, 0.0)
        return self._known[key]
