"""The compiled loops: one user at a time, or all the users of a plan at once.

Each continues a run until it has served the number of users asked for, so that
progress can be shown between calls. They are tested against
:func:`ldprl.simulation.reference.run_protocol` and :func:`ldprl.simulation.interpreted.run`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from ldprl.kernels.arrays import PlanBuffer, Sums, loss_of
from ldprl.kernels.compiling import entry, kernel, large_method, method
from ldprl.kernels.counting_channel import CountingChannel, mark_played
from ldprl.kernels.draws import binomial
from ldprl.kernels.effects import EffectSums, LawBuffer
from ldprl.kernels.generator import reseed, uniform
from ldprl.kernels.noise import fill, one
from ldprl.learning.compiled import plan_next, plan_now_and_then
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.compiled_mdp import CompiledMDP

gather = large_method("gather")
"""gather(channel, world, buffer, i, users, sums, chance, stream): add to the sums the decoded
reports of ``users`` users of assignment i."""


episode = method("episode")
"""episode(world, policy, counts, arrivals, chance, rounding): add one user's counters."""
lost_by = method("lost")
"""lost_by(buffer, world, i, users): what the ``users`` users of assignment i lose."""

WORLD, NOISE, LEARNER = range(3)
"""The streams of a run."""


class Run(NamedTuple):
    """The state of one run: all of it is changed in place.

    Attributes
    ----------
    sums, buffer
        What is known, and the plan in force.
    streams, world_key, words, drawn
        Random states, and room for a user's noise.
    clock
        The next checkpoint, and the assignment in force.
    regret
        Cumulative regret, and what one more user loses.
    points, curve
        Checkpoints, and the cumulative regret at them.
    """

    sums: Any
    buffer: Any
    streams: Array
    world_key: Array
    words: Array
    drawn: FloatArray
    clock: IntArray
    regret: FloatArray
    points: IntArray
    curve: FloatArray


def run_of(
    sums: Sums | EffectSums,
    buffer: PlanBuffer | LawBuffer,
    points: IntArray,
    world: SeedSequence,
    own: SeedSequence,
    counters: int,
) -> Run:
    """Return a run at its beginning, with room for the noise on ``counters`` counters."""
    even = counters + counters % 2
    key = world.generate_state(4, np.uint64)
    words = np.random.PCG64(own).random_raw(8)
    return Run(
        sums=sums,
        buffer=buffer,
        streams=np.stack([key, words[:4], words[4:8]]),
        world_key=key,
        words=np.zeros(even, dtype=np.uint64),
        drawn=np.zeros(even),
        clock=np.zeros(2, dtype=np.int64),
        regret=np.zeros(2),
        points=points,
        curve=np.zeros(len(points)),
    )


@entry
def each(world: CompiledMDP, channel: CountingChannel, planner: Any, run: Run, until: int) -> None:
    """Plan anew for every user."""
    sums, buffer, points, noise = run.sums, run.buffer, run.points, channel.noise
    counts, played, stretches = channel.counts, channel.played, channel.stretches
    chance, rounding, own = run.streams[WORLD], run.streams[NOISE], run.streams[LEARNER]
    users, due, chosen = sums.users[0], run.clock[0], run.clock[1]
    total, loss = run.regret[0], run.regret[1]
    while users < until:
        changed = plan_next(planner, sums, own)
        before = chosen
        chosen = pick(buffer, uniform(own)) if buffer.used[0] > 1 else 0
        if changed or users == 0 or chosen != before:
            loss = loss_of(world, buffer.policies[chosen])
            if channel.aware:
                sums.alike[0] = 0
                policy = buffer.policies[chosen]
                mark_played(channel.sizes, channel.squares, policy, played, stretches)
        episode(world, buffer.policies[chosen], counts, sums.arrivals, chance, rounding)
        stretch = 0
        while stretches[stretch] >= 0:
            # Places are unsigned: negative ones wrap around, which keeps loops from vectorising.
            begin, end = np.uint64(stretches[stretch]), np.uint64(stretches[stretch + 1])
            even = end - begin + (end - begin) % np.uint64(2)
            drawn = run.drawn[:even]
            fill(noise, rounding, run.words[:even], drawn)
            for i in range(begin, end):
                sums.counters[i] += one(noise, i, counts[i], drawn[i - begin], rounding)
                counts[i] = 0
            stretch += 2
        for cell in range(played.size):
            sums.reports[cell] += played[cell]
        users += 1
        sums.users[0] = users
        total += loss
        if users == points[due]:
            run.curve[due] = total
            due += 1
    run.clock[0], run.clock[1] = due, chosen
    run.regret[0], run.regret[1] = total, loss


@entry
def growth(
    world: Any, channel: Any, planner: Any, run: Run, until: int, factor: float,
    least: int,
) -> None:  # fmt: skip
    """Plan anew when users have grown by the factor 1 + ``factor``, and by ``least`` at least."""
    sums, buffer, points = run.sums, run.buffer, run.points
    chance, stream, own = run.streams[WORLD], run.streams[NOISE], run.streams[LEARNER]
    users, due, total = sums.users[0], run.clock[0], run.regret[0]
    while users < until:
        plan_now_and_then(planner, sums, own)
        batch = min(max(least, math.ceil(factor * users)), points[-1] - users)
        reseed(chance, run.world_key, users)
        left, shares, lost = float(batch), 1.0, 0.0
        for i in range(buffer.used[0]):
            group = left
            if i + 1 < buffer.used[0]:
                share = buffer.shares[i]
                group = binomial(left, share / shares, stream) if share > 0 else 0.0
            left -= group
            shares -= buffer.shares[i]
            if group > 0:
                gather(channel, world, buffer, i, group, sums, chance, stream)
                lost += lost_by(buffer, world, i, group)
        lost /= batch
        while due < points.size and points[due] <= users + batch:
            run.curve[due] = total + (points[due] - users) * lost
            due += 1
        users += batch
        sums.users[0] = users
        total += batch * lost
    run.clock[0], run.regret[0] = due, total


@kernel
def pick(buffer: PlanBuffer, u: float) -> int:
    """Return the assignment of a user, given a number in (0, 1)."""
    last: int = buffer.used[0] - 1
    for i in range(last):
        u -= buffer.shares[i]
        if u < 0:
            return i
    return last
