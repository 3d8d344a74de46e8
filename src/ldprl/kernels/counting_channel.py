"""Reports of noisy counters in compiled code: the channel of every counting mechanism."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, sizes_of
from ldprl.kernels.compiling import kernel, method
from ldprl.kernels.noise import many
from ldprl.layout import Layout
from ldprl.shape import Array, FloatArray, IntArray

episodes = method("episodes")
"""episodes(world, policy, users, counts, arrivals, chance, rounding): add their summed counters."""


class CountingChannel(NamedTuple):
    """Noise on counters, and room to work in.

    Attributes
    ----------
    sizes, noise
        Sizes of the problem, and a noise of :mod:`ldprl.kernels.noise`.
    squares
        Whether squared rewards are counted.
    aware
        Whether only the cells that the policy can visit are decoded.
    counts
        True counters of the users being served; 0 in between.
    played
        For each cell 1 if it is decoded, else 0.
    stretches
        Which counters are decoded: from, to, from, to, …, and −1 behind the last.
    """

    sizes: Sizes
    noise: Any
    squares: bool
    aware: bool
    counts: FloatArray
    played: FloatArray
    stretches: IntArray

    def gather(
        self, world: Any, buffer: PlanBuffer, i: int, users: float, sums: Sums, chance: Array,
        stream: Array,
    ) -> None:  # fmt: skip
        """Add to ``sums`` the decoded reports of ``users`` users of assignment i."""
        policy = buffer.policies[i]
        if self.aware:
            sums.alike[0] = 0
            mark_played(self.sizes, self.squares, policy, self.played, self.stretches)
        episodes(world, policy, users, self.counts, sums.arrivals, chance, stream)
        stretch = 0
        while self.stretches[stretch] >= 0:
            for at in range(self.stretches[stretch], self.stretches[stretch + 1]):
                sums.counters[at] += many(self.noise, at, self.counts[at], users, stream)
                self.counts[at] = 0
            stretch += 2
        for cell in range(self.played.size):
            sums.reports[cell] += users * self.played[cell]


@kernel
def mark_played(
    sizes: Sizes, squares: bool, policy: IntArray, played: FloatArray, stretches: IntArray
) -> None:
    """Find the cells that users of ``policy`` can visit, and where their counters stand.

    Counters that lie side by side make one stretch, which a single loop then runs through.
    """
    for cell in range(played.size):
        played[cell] = 0
    for step in range(sizes.horizon):
        for state in range(sizes.states):
            action = policy[step * sizes.states + state]
            played[step * sizes.stride + state * sizes.actions + action] = 1
    end, moves_at = 0, 2 * sizes.cells
    squares_at = moves_at + sizes.leading * sizes.states
    for block in range(4 if squares else 3):
        first = (0, sizes.cells, moves_at, squares_at)[block]
        width = sizes.states if block == 2 else 1
        cells = sizes.leading if block == 2 else sizes.cells
        for cell in range(cells):
            if played[cell] == 0:
                continue
            begin = first + cell * width
            if end == 0 or stretches[end - 1] != begin:
                stretches[end] = begin
                end += 2
            stretches[end - 1] = begin + width
    stretches[end] = -1


def counting_channel(layout: Layout, noise: Any, *, policy_aware: bool) -> CountingChannel:
    """Return the channel of a mechanism that puts ``noise`` on the counters of ``layout``."""
    sizes = sizes_of(layout.shape)
    stretches = np.full(8 * sizes.cells + 1, -1, dtype=np.int64)
    stretches[:2] = 0, layout.length
    return CountingChannel(
        sizes=sizes,
        noise=noise,
        squares=layout.squares,
        aware=policy_aware,
        counts=np.zeros(layout.length),
        played=np.ones(sizes.cells),
        stretches=stretches,
    )
