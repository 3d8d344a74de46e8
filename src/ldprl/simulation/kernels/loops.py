"""The two engines: one user at a time, or all the users of a plan at once.

Each goes on from where a run stands until it has served the number of users asked for, so that
progress can be shown between calls. Twins: :func:`ldprl.simulation.reference.run_protocol` and
:func:`ldprl.simulation.interpreted.run`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.kernels.arrays import LEARNER, NOISE, WORLD, World
from ldprl.simulation.kernels.batches import many
from ldprl.simulation.kernels.dispatch import by_type
from ldprl.simulation.kernels.generator import fill_words
from ldprl.simulation.kernels.ldp_obi import Optimistic, optimistic
from ldprl.simulation.kernels.options import entry, kernel
from ldprl.simulation.kernels.posterior import (
    PrivateSampling,
    Sampling,
    private_sampling,
    sampling,
)
from ldprl.simulation.kernels.reports import one, refill
from ldprl.simulation.kernels.ucb_vi import Bernstein, Hoeffding, bernstein, hoeffding
from ldprl.simulation.kernels.world import live, live_many, policy_loss

plan = by_type(
    {
        Optimistic: optimistic,
        Hoeffding: hoeffding,
        Bernstein: bernstein,
        Sampling: sampling,
        PrivateSampling: private_sampling,
    }
)
"""plan(learner, noise, world, tally, reports, arrivals, users, policy, stream): write the policy
for those who come after the first ``users``, and tell whether it changed."""


ALWAYS = 2
"""Marks cells that are reported whatever the policy."""


class Run(NamedTuple):
    """Where one run stands: all of it is changed in place.

    Attributes
    ----------
    tally, reports
        Sums of reports, and how many went into each row.
    arrivals
        Visits at each step, without privacy only.
    counts, room
        True counters of the users being served, and two rows of S to work in.
    streams, world_key, lanes, words, pool
        Random states, and what noise in blocks is drawn from.
    policy, played
        The policy in force; for each cell 1 if it can be visited, ``ALWAYS`` (all of them, or none)
        if it is reported anyway.
    stretches
        Where counters are reported: from, to, from, to, …, and −1 behind the last.
    clock
        Users served, the next checkpoint, the pool's next draw.
    regret
        Cumulative regret, and what one more user loses.
    points, curve
        Checkpoints, and the cumulative regret at them.
    """

    tally: FloatArray
    reports: FloatArray
    arrivals: FloatArray
    counts: FloatArray
    room: FloatArray
    streams: Array
    world_key: Array
    lanes: Array
    words: Array
    pool: FloatArray
    policy: IntArray
    played: IntArray
    stretches: IntArray
    clock: IntArray
    regret: FloatArray
    points: IntArray
    curve: FloatArray


@entry
def each(world: World, noise: Any, learner: Any, run: Run, until: int) -> None:
    """Plan anew for every user."""
    tally, reports, arrivals = run.tally, run.reports, run.arrivals
    counts, policy, played, stretches = run.counts, run.policy, run.played, run.stretches
    pool, points = run.pool, run.points
    chance, rounding, own = run.streams[WORLD], run.streams[NOISE], run.streams[LEARNER]
    users, due, at = run.clock[0], run.clock[1], np.uint64(run.clock[2])
    total, loss = run.regret[0], run.regret[1]
    while users < until:
        changed = plan(learner, noise, world, tally, reports, arrivals, users, policy, own)
        if changed or users == 0:
            loss = policy_loss(world, policy, run.room)
            if users == 0 or played[0] < ALWAYS:
                mark_played(world, policy, played, stretches)
        live(world, policy, counts, arrivals, chance, rounding)
        if np.int64(at) + noise.draws_each > pool.size:
            fill_words(run.lanes, run.words)
            refill(noise, run.words, pool)
            at = np.uint64(0)
        stretch = 0
        while stretches[stretch] >= 0:
            for i in range(np.uint64(stretches[stretch]), np.uint64(stretches[stretch + 1])):
                drawn, at = one(noise, i, counts[i], pool, at)
                tally[i] += drawn
                counts[i] = 0
            stretch += 2
        for cell in range(reports.size):
            reports[cell] += min(played[cell], 1)
        users += 1
        total += loss
        if users == points[due]:
            run.curve[due] = total
            due += 1
    run.clock[0], run.clock[1], run.clock[2] = users, due, at
    run.regret[0], run.regret[1] = total, loss


@entry
def growth(world: World, noise: Any, learner: Any, run: Run, until: int, factor: float) -> None:
    """Plan anew when the number of users has grown by the factor 1 + ``factor``."""
    tally, reports, arrivals = run.tally, run.reports, run.arrivals
    counts, policy, played, stretches = run.counts, run.policy, run.played, run.stretches
    points = run.points
    chance, stream, own = run.streams[WORLD], run.streams[NOISE], run.streams[LEARNER]
    users, due, total, loss = run.clock[0], run.clock[1], run.regret[0], run.regret[1]
    while users < until:
        changed = plan(learner, noise, world, tally, reports, arrivals, users, policy, own)
        if changed or users == 0:
            loss = policy_loss(world, policy, run.room)
            if users == 0 or played[0] < ALWAYS:
                mark_played(world, policy, played, stretches)
        batch = min(max(1, math.ceil(factor * users)), points[-1] - users)
        reseed(chance, run.world_key, users)
        live_many(world, policy, float(batch), counts, arrivals, run.room, chance, stream)
        stretch = 0
        while stretches[stretch] >= 0:
            for i in range(stretches[stretch], stretches[stretch + 1]):
                tally[i] += many(noise, i, counts[i], float(batch), stream)
                counts[i] = 0
            stretch += 2
        for cell in range(reports.size):
            reports[cell] += batch * min(played[cell], 1)
        while due < points.size and points[due] <= users + batch:
            run.curve[due] = total + (points[due] - users) * loss
            due += 1
        users += batch
        total += batch * loss
    run.clock[0], run.clock[1] = users, due
    run.regret[0], run.regret[1] = total, loss


@kernel
def mark_played(world: World, policy: IntArray, played: IntArray, stretches: IntArray) -> None:
    """Find what the policy's users report on (twin: :meth:`ldprl.shape.Shape.played`).

    Rows that lie side by side make one stretch, which a single loop then runs through.
    """
    for cell in range(played.size):
        if played[cell] == 1:
            played[cell] = 0
    for step in range(world.horizon):
        for state in range(world.states):
            action = policy[step * world.states + state]
            cell = step * world.stride + state * world.actions + action
            played[cell] = max(played[cell], 1)
    end = 0
    for cell in range(played.size):
        if played[cell] == 0:
            continue
        begin = cell * world.width
        if end == 0 or stretches[end - 1] != begin:
            stretches[end] = begin
            end += 2
        stretches[end - 1] = begin + (world.width if cell < world.leading else world.moves_at)
    stretches[end] = -1


@kernel
def reseed(stream: Array, key: Array, users: int) -> None:
    """Give each batch a stream of its own, so that the world's draws do not hang on past batches.

    SplitMix64 (Steele, Lea & Flood 2014) spreads the number of users over the key's words.
    """
    counter = np.uint64(users)
    for i in range(4):
        counter += np.uint64(0x9E3779B97F4A7C15)
        word = key[i] ^ counter
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        stream[i] = word ^ (word >> np.uint64(31))
