"""From MDPs and learners to the arrays that kernels work on, and back to statistics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.ldp_psrl import LDPPSRL
from ldprl.learning.learner import Learner
from ldprl.learning.psrl import PSRL
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.mdp.evaluation import optimum
from ldprl.mdp.tabular import TabularMDP
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.error_laws import ErrorLaw
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.kernels.arrays import REWARD, SQUARE, VISITS, World
from ldprl.simulation.kernels.generator import LANES
from ldprl.simulation.kernels.ldp_obi import Optimistic
from ldprl.simulation.kernels.loops import ALWAYS, Run
from ldprl.simulation.kernels.planning import CHANCES, MANY, Room, WideRoom
from ldprl.simulation.kernels.posterior import PrivateSampling, Sampling
from ldprl.simulation.kernels.ucb_vi import Bernstein, Hoeffding
from ldprl.simulation.seeds import Seeds
from ldprl.statistics import Statistics

_LEAST_POOL = 2048


def world_of(mdp: TabularMDP, mechanism: CountingMechanism) -> World:
    """Return the world as users of ``mechanism`` report it."""
    shape = mdp.shape
    cells = shape.states * shape.actions
    moves_at = SQUARE + mechanism.layout.squares
    laws = np.vstack([mdp.transitions.reshape(-1, shape.states), mdp.initial])
    return World(
        states=shape.states,
        actions=shape.actions,
        horizon=shape.horizon,
        stride=cells if shape.step_dependent else 0,
        leading=shape.transition_models * cells,
        width=moves_at + shape.states,
        moves_at=moves_at,
        bernoulli=mdp.reward_kind == "bernoulli",
        resolution=mechanism.layout.resolution or 0,
        best=float(mdp.initial @ optimum(mdp).values[0]),
        moves=laws.ravel(),
        cumulative=cumulative(laws).ravel(),
        hazards=hazards(laws).ravel(),
        rewards=mdp.rewards.flatten(),
    )


def cumulative(laws: FloatArray) -> FloatArray:
    """Return running sums of each row, exactly 1 from its last possible entry on."""
    sums = np.cumsum(laws / laws.sum(axis=-1, keepdims=True), axis=-1)
    return np.where(_after(laws) > 0, np.minimum(sums, 1.0), 1.0)


def hazards(laws: FloatArray) -> FloatArray:
    """Return P(i | none before i) of each row, exactly 1 for its last possible entry."""
    return np.divide(laws, laws + _after(laws), out=np.ones_like(laws), where=laws > 0) * (laws > 0)


def _after(laws: FloatArray) -> FloatArray:
    """Return the mass behind each entry of a row, summed from the end: no cancellation."""
    from_here = np.flip(np.cumsum(np.flip(laws, axis=-1), axis=-1), axis=-1)
    return np.append(from_here[..., 1:], np.zeros_like(from_here[..., :1]), axis=-1)


def learner_of(learner: Learner, mechanism: CountingMechanism, ahead: int) -> Any:
    """Return the learner's numbers and room to plan in, for ``ahead`` plans in a row at once."""
    shape = mechanism.shape
    cells = shape.states * shape.actions
    values = np.zeros((shape.horizon + 1) * shape.states)
    sampled = np.zeros((shape.cells, 1 + shape.states))
    if isinstance(learner, LDPPSRL):
        return PrivateSampling(sampled, values, learner.inflation, learner.dirichlet)
    if isinstance(learner, PSRL):
        return Sampling(sampled, values, learner.constants == "paper")
    model = np.zeros((shape.cells, CHANCES + shape.states))
    room: Room | WideRoom = Room(model, values)
    if shape.states >= MANY:
        room = WideRoom(model, values, np.zeros((shape.states, shape.cells)), np.zeros(cells))
    if isinstance(learner, LDPOBI):
        laws = learner.mechanism.error_laws
        paper = learner.mechanism.constants == "paper"
        blocks = (laws.rewards, laws.visits, laws.departures, laws.transitions)
        return Optimistic(
            room=room,
            alpha=learner.alpha,
            log_constant=math.log(4 * math.pi**2 * cells * shape.horizon / (3 * learner.failure)),
            ahead=shape.horizon if paper else shape.horizon - 1,
            printed=paper and shape.horizon > 1 and not shape.step_dependent,
            laws=np.array([_law(law, learner.failure) for law in blocks]).T.copy(),
            shared=not mechanism.policy_aware,
            errors=np.zeros((6, shape.cells if mechanism.policy_aware else ahead)),
        )
    assert isinstance(learner, UCBVI)
    kind = Bernstein if isinstance(learner, UCBVIBernstein) else Hoeffding
    return kind(room, math.log(5 * cells * shape.horizon**2 / learner.failure))


def _law(law: ErrorLaw, failure: float) -> tuple[float, ...]:
    constant = math.log(law.union * 2 * math.pi**2 / (3 * failure))
    return constant, law.root, law.linear, law.power, law.floor, float(law.lag)


def run_of(
    mechanism: CountingMechanism,
    points: IntArray,
    seeds: Seeds,
    draws_each: int,
) -> Run:
    """Return a run at its beginning."""
    shape = mechanism.shape
    pool = LANES * math.ceil(max(_LEAST_POOL, 4 * draws_each) / LANES)
    world = seeds.world.generate_state(4, np.uint64)
    own = np.random.PCG64(seeds.own).random_raw(8 + 4 * LANES)
    arrivals = mechanism.no_statistics().arrivals
    counters = shape.cells * (SQUARE + mechanism.layout.squares + shape.states)
    return Run(
        tally=np.zeros(counters),
        reports=np.zeros(shape.cells),
        arrivals=np.zeros(0 if arrivals is None else arrivals.size),
        counts=np.zeros(counters),
        room=np.zeros(2 * shape.states),
        streams=np.stack([world, own[:4], own[4:8]]),
        world_key=world,
        lanes=own[8:].reshape(4, LANES).copy(),
        words=np.zeros(pool, dtype=np.uint64),
        pool=np.zeros(pool),
        policy=np.zeros(shape.horizon * shape.states, dtype=np.int64),
        played=np.full(shape.cells, 0 if mechanism.policy_aware else ALWAYS, dtype=np.int64),
        stretches=np.full(2 * shape.cells + 1, -1, dtype=np.int64),
        clock=np.array([0, 0, pool], dtype=np.int64),
        regret=np.zeros(2),
        points=points,
        curve=np.zeros(len(points)),
    )


def statistics_of(run: Run, mechanism: CountingMechanism, decoding: FloatArray) -> Statistics:
    """Return the decoded sums (twin: ``CountingMechanism.decode``)."""
    shape, squares = mechanism.shape, mechanism.layout.squares
    cells = (shape.models, shape.states, shape.actions)
    gain, shift = decoding
    rows = gain * (run.tally.reshape(shape.cells, -1) - run.reports[:, None] * shift)
    moves = rows[:, SQUARE + squares :].reshape(*cells, shape.states)
    return Statistics(
        shape=shape,
        users=int(run.clock[0]),
        rewards=rows[:, REWARD].reshape(cells),
        visits=rows[:, VISITS].reshape(cells),
        transitions=moves[: shape.transition_models],
        reports=run.reports.astype(np.int64).reshape(cells),
        squares=rows[:, SQUARE].reshape(cells) if squares else None,
        arrivals=run.arrivals.reshape(-1, shape.states) if run.arrivals.size else None,
    )
