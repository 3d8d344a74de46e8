"""LDP-ES from its formulas: one user after the other, lists of floats, nothing of the package.

A world of contexts with Bernoulli rewards and a linear policy: users see x, and do what has the
larger output. :class:`Slow` is the learner alone; :func:`live` is the whole loop.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scipy.optimize import isotonic_regression

CELLS, UNIT = 256, 65536


class User(NamedTuple):
    """What a report says with its number: the shift ξ, the cell of the threshold, the bit z."""

    shift: Sequence[int]
    cell: int
    bit: int


@dataclass
class Slow:
    """μ and log σ after each plan, by the rules of the learner's docstring.

    ``undone`` is False in a mutant that takes the reported bit for the true one.
    """

    epsilon: float
    size: int
    unit: float = 1.0
    undone: bool = True
    users: int = 0
    mean: list[float] = field(default_factory=list)
    log_spread: list[float] = field(default_factory=list)
    counts: list[float] = field(default_factory=lambda: [0.0] * CELLS)
    above: list[float] = field(default_factory=lambda: [0.0] * CELLS)
    curvature: list[float] = field(default_factory=list)
    scatter: float = 0.0

    def __post_init__(self) -> None:
        self.mean = [0.0] * self.size
        self.log_spread = [math.log(self.unit)] * self.size
        self.curvature = [0.0] * self.size

    @property
    def lie(self) -> float:
        """f = 1/(1 + e^ε)."""
        return 1 / (1 + math.exp(self.epsilon))

    @property
    def variance(self) -> float:
        """v = ¼/(1 − 2f)²."""
        return 0.25 / (1 - 2 * self.lie) ** 2

    @property
    def plan_size(self) -> int:
        """max(50v, 0.05k)."""
        return math.ceil(max(50 * self.variance, 0.05 * self.users))

    @property
    def law(self) -> tuple[list[float], list[float]]:
        """μ and σ as they are published: single precision."""
        return [single(m) for m in self.mean], [single(math.exp(s)) for s in self.log_spread]

    @property
    def survival(self) -> list[float]:
        """S by cell: the falling sequence that is nearest to the shares."""
        seen = [i for i in range(CELLS) if self.counts[i] > 0]
        if not seen:
            return [0.5] * CELLS

        weights = [self.counts[i] for i in seen]
        shares = [self.above[i] / self.counts[i] for i in seen]
        fitted = isotonic_regression(shares, weights=weights, increasing=False).x
        known = dict(zip(seen, fitted.clip(0, 1).tolist(), strict=True))
        result: list[float] = []
        for cell in range(CELLS):
            below = max((one for one in seen if one <= cell), default=seen[0])
            beyond = min((one for one in seen if one >= cell), default=seen[-1])
            part = 0.0 if below == beyond else (cell - below) / (beyond - below)
            result.append(known[below] + part * (known[beyond] - known[below]))
        return result

    @property
    def baseline(self) -> list[int]:
        """S as it is published, in 1/2¹⁶."""
        return [round(share * UNIT) for share in self.survival]

    @property
    def range(self) -> tuple[int, int]:
        """Where thresholds lie: of the mean spread, three tenths are left out at each end."""
        if not self.users:
            return 0, UNIT
        share = self.survival
        most = 0.3 * (sum(s * (1 - s) for s in share) + 0.5)
        low, below = 0, 1 - share[0]
        while below <= most and low < CELLS - 1:
            low += 1
            below += 1 - share[low]
        high, beyond = CELLS, share[CELLS - 1]
        while beyond <= most and high > 1:
            high -= 1
            beyond += share[high - 1]
        if high - low >= 2:
            return low * UNIT // CELLS, high * UNIT // CELLS
        middle = (low + high) * UNIT // (2 * CELLS)
        return max(0, middle - UNIT // CELLS), min(UNIT, middle + UNIT // CELLS)

    def learn(
        self, users: Sequence[User], baseline: Sequence[int], spread: Sequence[float]
    ) -> None:
        """Take in what the users of one plan reported, under its baseline and its σ."""
        n, d, v = len(users), self.size, self.variance
        self.users += n
        k = self.users
        decoded = [
            (user.bit - self.lie) / (1 - 2 * self.lie) if self.undone else user.bit
            for user in users
        ]
        y = [z - baseline[user.cell] / UNIT for z, user in zip(decoded, users, strict=True)]
        middle = sum(y) / n
        g, h = [0.0] * d, [0.0] * d
        for signal, user in zip(y, users, strict=True):
            for j, shift in enumerate(user.shift):
                g[j] += (signal - middle) * shift / n
                h[j] += 4 / 3 * (signal - middle) * (shift**2 - 1) / n
        beta, rho = math.sqrt(k / v), min(1.0, n / (k + 10 * v))
        average = sum(h) / d
        # James and Stein: variance of a score for log σ is 16/9·E(ξ² − 1)² = 8/3.
        kept = math.exp(-2 * n / k)
        self.curvature = [
            kept * c + n * (own - average) for c, own in zip(self.curvature, h, strict=True)
        ]
        self.scatter = kept * self.scatter + n * 8 / 3 * v
        signal = sum(c**2 for c in self.curvature) / d
        seen = max(0.0, 1 - self.scatter * (1 - 1 / d) / signal)
        for j in range(d):
            self.mean[j] += rho * beta * spread[j] * g[j]
            step = rho / 2 * (1 + beta * (average + seen * (h[j] - average)))
            self.log_spread[j] += min(0.5, max(-0.5, step))
        beyond = math.sqrt(sum(math.exp(2 * s) for s in self.log_spread) / d) / self.unit
        if beyond > 1:
            self.mean = [m / beyond for m in self.mean]
            self.log_spread = [s - math.log(beyond) for s in self.log_spread]
        left = 1 - min(1.0, n / (0.15 * k))
        self.counts = [left * c for c in self.counts]
        self.above = [left * a for a in self.above]
        for z, user in zip(decoded, users, strict=True):
            self.counts[user.cell] += 1
            self.above[user.cell] += z


def single(number: float) -> float:
    """Round to single precision."""
    result: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return result


def popcount(chance: random.Random) -> int:
    """Draw ξ: ones among four bits, less two."""
    return chance.getrandbits(4).bit_count() - 2


def live(
    seen: Sequence[Sequence[float]],
    rewards: Sequence[Sequence[float]],
    learner: Slow,
    plans: int,
    chance: random.Random,
) -> list[float]:
    """Play the loop for some plans; return what the users of each earned on average."""
    earned = []
    for _ in range(plans):
        users, paid = list[User](), 0.0
        mean, spread = learner.law
        baseline, (low, high) = learner.baseline, learner.range
        for _ in range(learner.plan_size):
            shift = [popcount(chance) for _ in range(learner.size)]
            theta = [single(m + s * x) for m, s, x in zip(mean, spread, shift, strict=True)]
            row = chance.randrange(len(seen))
            outputs = [
                theta[action] + sum(theta[2 + 2 * j + action] * x for j, x in enumerate(seen[row]))
                for action in range(2)
            ]
            action = 1 if outputs[1] > outputs[0] else 0
            reward = 1.0 if chance.random() < rewards[row][action] else 0.0
            wide = chance.randrange(256) < 26
            a, b = (0, UNIT) if wide else (low, high)
            threshold = (a + (b - a) * chance.random()) / UNIT
            bit = reward > threshold
            if chance.random() < learner.lie:
                bit = not bit
            users.append(User(shift, int(threshold * CELLS), int(bit)))
            paid += reward
        learner.learn(users, baseline, spread)
        earned.append(paid / len(users))
    return earned
