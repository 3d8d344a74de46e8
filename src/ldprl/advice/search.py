"""The search for the pair and for the number that was not given: ε or users."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence

from ldprl.advice.forecast import AHEAD, Forecast
from ldprl.advice.monotone import Fit
from ldprl.catalogue import Pair
from ldprl.simulation.regret import standard_error

Ask = Callable[[Sequence[tuple[Pair, float | None]], int, int], list[Forecast]]
"""Returns a forecast for each pair and ε, for a number of users, in a number of runs."""
FEW_RUNS = 6
"""Runs far from the answer, and of the other pairs; at the answer there are all."""
_LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""ε between which the search for ε begins; the last is the largest that is recommended."""
_FAR = 10**9
"""Users up to which the number of users is searched for."""
_TRIES, _CLOSE = 4, 1.25
"""The ε around which is simulated moves this often, until it is enough and at most 1.25 times what
interpolation says is enough."""
CLEARLY, AT_LEAST = 0.5, 0.05
"""Clearly better: at most half the loss, ε or users; a loss also by 0.05 at least."""
_ERRORS = 2.0
"""A difference counts from this many standard errors on."""


class Search:
    """Looks for the usual pair's answer with few runs, then with all runs there.

    The other pairs are compared at that answer, and another one is taken if it is clearly better.
    Each method returns the forecasts of all pairs at the answer, and
    those of the chosen pair around it by ascending ε.
    """

    def __init__(
        self, ask: Ask, pairs: Sequence[Pair], usual: Pair, target: float, runs: int
    ) -> None:
        self._ask, self._pairs, self._usual = ask, pairs, usual
        self._target, self._runs, self._few = target, runs, min(FEW_RUNS, runs)

    def answer(
        self, users: int | None, epsilon: float | None
    ) -> tuple[int, float, list[Forecast], list[Forecast]]:
        """Return users, ε, the forecasts of all pairs, and those of the chosen one around ε."""
        if users is None:
            assert epsilon is not None
            number, compared, near = self.users(epsilon)
            return number, epsilon, compared, near
        if epsilon is None:
            return users, *self.epsilon(users)
        return users, epsilon, *self.pair(users, epsilon)

    def pair(self, users: int, epsilon: float) -> tuple[list[Forecast], list[Forecast]]:
        """Choose the pair, where both numbers are given."""
        compared = self._compare(epsilon, users)
        pair = best_at(compared, users, self._usual)
        near = self._around(pair, epsilon, users)
        return _replaced(compared, near, epsilon), near

    def epsilon(self, users: int) -> tuple[float, list[Forecast], list[Forecast]]:
        """Choose the pair and the least ε that reaches the target."""
        level, near = self._least_epsilon(self._usual, users)
        compared = self._compare(level, users)
        rival = self._cheaper(compared, Fit(near).epsilon_needed(users, self._target), users)
        if rival is not None:
            level, near = self._least_epsilon(rival, users)
            compared = self._compare(level, users)
        return level, _replaced(compared, near, level), near

    def users(self, epsilon: float) -> tuple[int, list[Forecast], list[Forecast]]:
        """Choose the pair and the least number of users that reaches the target."""
        compared = self._compare(epsilon, _FAR)
        needs = {one.pair: Fit([one]).users_needed(epsilon, self._target) for one in compared}
        pair = cheapest(needs, self._usual)
        until = min(_FAR, math.ceil(4 * needs[pair])) if needs[pair] < math.inf else _FAR
        while True:
            near = self._around(pair, epsilon, until)
            compared = _replaced(compared, near, epsilon)
            found = Fit(near).users_needed(epsilon, self._target)
            last = int(near[0].points[-1])
            if found < math.inf:
                return math.ceil(rounded_up(found)), compared, near
            if last < until or until == _FAR:
                return last, compared, near
            until = min(_FAR, AHEAD * until)

    def _least_epsilon(self, pair: Pair, users: int) -> tuple[float, list[Forecast]]:
        """Return the least ε with which ``pair`` reaches the target, and forecasts around it.

        The largest of :data:`_LEVELS` where none does.
        """
        coarse: list[Forecast] = []

        def reached(level: float) -> bool:
            coarse.extend(self._ask([(pair, level)], users, self._few))
            return self._reaches(coarse[-1], users)

        bisect_left(_LEVELS, True, key=reached)
        needed = rounded_up(min(Fit(coarse).epsilon_needed(users, self._target), _LEVELS[-1]))
        near: list[Forecast] = []
        for _ in range(_TRIES):
            near = self._around(pair, needed, users, near)
            found = Fit(near).epsilon_needed(users, self._target)
            if found <= needed <= _CLOSE * found or (found > needed >= _LEVELS[-1]):
                break
            needed = rounded_up(min(found, _LEVELS[-1]))
        fit = Fit(near)
        most = max(len(one.losses) for one in near)
        tried = [one for one in near if len(one.losses) == most and one.level <= _LEVELS[-1]]
        enough = [one.level for one in tried if fit.loss(one.level, users) <= self._target]
        return min(enough, default=tried[-1].level), near

    def _cheaper(self, compared: Sequence[Forecast], needed: float, users: int) -> Pair | None:
        """Return another pair that reaches the target with half the ε that the usual one needs."""
        able = [one for one in compared if self._reaches(one, users) and one.pair != self._usual]
        if needed < math.inf:
            able = self._ask([(one.pair, CLEARLY * needed) for one in able], users, self._few)
        enough = [one for one in able if self._reaches(one, users)]
        return min(enough, key=lambda one: one.loss(users)).pair if enough else None

    def _reaches(self, forecast: Forecast, users: int) -> bool:
        return forecast.loss(users) <= self._target

    def _compare(self, level: float, users: int) -> list[Forecast]:
        return self._ask([(pair, level) for pair in self._pairs], users, self._few)

    def _around(
        self, pair: Pair, level: float, users: int, known: Sequence[Forecast] = ()
    ) -> list[Forecast]:
        """Return forecasts at ``level`` in all runs, and on both sides of it, by ascending ε.

        Half and twice the ε have few runs; they are left out where one on that side is known.
        """
        near = {one.level: one for one in known}
        sides = [] if any(other < level for other in near) else [level / 2]
        sides += [] if any(other > level for other in near) else [2 * level]
        wanted = self._ask([(pair, level)], users, self._runs)
        wanted += self._ask([(pair, side) for side in sides], users, self._few)
        near |= {one.level: one for one in wanted}
        return [near[one] for one in sorted(near)]


def _replaced(
    compared: Sequence[Forecast], near: Sequence[Forecast], epsilon: float
) -> list[Forecast]:
    """Return the forecasts with all runs of the chosen pair, so that it has one loss only."""
    (chosen,) = (one for one in near if one.epsilon == epsilon)
    return [chosen if one.pair == chosen.pair else one for one in compared]


def best_at(forecasts: Sequence[Forecast], users: int, usual: Pair) -> Pair:
    """Return the pair to take, of forecasts at one ε in the same worlds."""
    there = {forecast.pair: forecast for forecast in forecasts}
    best = min(there.values(), key=lambda forecast: forecast.loss(users))
    known = there[usual]
    runs = min(len(best.losses), len(known.losses))
    gains = known.after(users)[:runs] - best.after(users)[:runs]
    clear = (
        best.loss(users) <= CLEARLY * known.loss(users)
        and gains.mean() >= AT_LEAST
        and gains.mean() >= _ERRORS * float(standard_error(gains))
    )
    return best.pair if clear else usual


def cheapest(needs: dict[Pair, float], usual: Pair) -> Pair:
    """Return the pair that needs least (of ε, or of users) for the target; infinite: too much."""
    best = min(needs, key=lambda pair: needs[pair])
    return best if needs[best] <= CLEARLY * needs[usual] and needs[best] < math.inf else usual


def rounded_up(value: float) -> float:
    """Return the next number with two digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.ceil(round(value / step, 6)) * step, 12)
