"""Losses that fall with ε and with users: the nearest such table to the simulated means.

More users and a larger ε never make the best use of reports worse, so a forecast that rises with
either shows the chance of its runs. Isotonic regression removes it and reports nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ldprl.advice.forecast import Forecast
from ldprl.isotonic import falling
from ldprl.shape import FloatArray


class Fit:
    """The losses of one pair, falling in ε and in users.

    Worlds differ, so runs of an ε are compared with the same runs of another: where there are fewer
    than at the nearest ε with the most runs, their mean is multiplied by what all runs lose there
    over what these runs lose there.

    Then each column (one number of users) is made to fall in ε, weighted by runs, then each row
    (one ε) in users. Isotonic regression with equal weights keeps the order of rows, so the second
    step leaves the first one true.

    Parameters
    ----------
    forecasts
        Of one pair, each with another ε, all at the same numbers of users.
    errors
        Standard errors that are added to every mean first.
    """

    def __init__(self, forecasts: Sequence[Forecast], errors: float = 0.0) -> None:
        ordered = sorted(forecasts, key=lambda one: one.level)
        self.epsilons = [one.level for one in ordered]
        self.points = ordered[0].points
        runs = [len(one.losses) for one in ordered]
        most = [one for one in ordered if len(one.losses) == max(runs)]
        means = np.array(
            [_of_all_runs(one, most) + (errors * one.error if errors else 0.0) for one in ordered]
        )
        columns = np.array([falling(column, runs) for column in means.T])
        equal = np.ones(len(self.points))
        self.losses = np.array([falling(row, equal) for row in columns.T])

    def loss(self, epsilon: float, users: int) -> float:
        """Return the loss at a simulated ε after ``users`` users, or the last that is known."""
        row = self.losses[self.epsilons.index(epsilon)]
        return float(np.interp(math.log(users), np.log(self.points), row))

    def epsilon_needed(self, users: int, target: float) -> float:
        """Return the least ε with a loss of at most ``target`` after ``users`` users.

        Interpolated linearly in ln ε between simulated ε. The least of them if it is enough;
        infinite if the largest is not.
        """
        losses = np.array([self.loss(level, users) for level in self.epsilons])
        return _crossing(np.array(self.epsilons), losses, target)

    def users_needed(self, epsilon: float, target: float) -> float:
        """Return the least number of users with a loss of at most ``target``; infinite if none."""
        return _crossing(
            self.points.astype(float), self.losses[self.epsilons.index(epsilon)], target
        )


def _of_all_runs(forecast: Forecast, most: Sequence[Forecast]) -> FloatArray:
    """Return what the mean of ``forecast`` would be in the runs of the nearest of ``most``."""
    nearest = min(most, key=lambda one: abs(math.log(one.level / forecast.level)))
    part = nearest.losses[: len(forecast.losses)].mean(axis=0)
    scale = np.divide(nearest.mean, part, out=np.ones_like(part), where=part > 0)
    result: FloatArray = forecast.mean * scale
    return result


def _crossing(places: FloatArray, losses: FloatArray, target: float) -> float:
    """Return where falling losses reach ``target``, interpolated linearly in the logarithm."""
    enough = np.flatnonzero(losses <= target)
    if not len(enough):
        return math.inf
    first = int(enough[0])
    if first == 0:
        return float(places[0])
    low, high = float(places[first - 1]), float(places[first])
    share = (losses[first - 1] - target) / (losses[first - 1] - losses[first])
    return float(low * (high / low) ** share)
