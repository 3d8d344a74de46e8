"""Users with tables of their own, one by one and by table: compiled code against the exact law.

Every comparison is a z-test at 6 standard deviations (two-sided tail 2e-9); with fewer than 100
comparisons a file, the type-I error is below 1e-6. The mutants show the power.
"""

from dataclasses import replace
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest

from ldprl.assignment import Assignment
from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.kernels.arrays import sums_of
from ldprl.kernels.compiling import entry
from ldprl.learning.compiled import run_planner
from ldprl.learning.ldp_returns import LDPReturns
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.partition import Partition
from ldprl.policies.tables import TableDistribution
from ldprl.shape import Array, FloatArray
from ldprl.simulation.engine import simulate
from ldprl.simulation.loops import gather
from ldprl.simulation.random_policies import (
    few_tables,
    sample_bits,
    sample_by_table,
    table_users_of,
)
from ldprl.simulation.reference import run_protocol
from ldprl.worlds import random_mdp
from ldprl.worlds.evaluation import optimum, policy_values
from ldprl.worlds.tabular import TabularMDP

Kind = Literal["deterministic", "bernoulli"]
SEED = "0" * 32
USERS = 400_000
CHANCES = np.array(
    [
        [[0.2, 0.8], [0.7, 0.3], [0.5, 0.5]],
        [[0.6, 0.4], [0.1, 0.9], [0.3, 0.7]],
        [[0.0, 1.0], [0.4, 0.6], [0.8, 0.2]],
    ]
)
"""Of tables with up to three parts: all steps but the last ones, and these."""
WHAT = Return(UNIT // 2, 5 * UNIT // 2)


def _world(kind: Kind, states: int = 3) -> TabularMDP:
    drawn = random_mdp(states, 2, 3, seed=5, concentration=1.0)
    rewards = np.random.default_rng(2).random((states, 2))
    return TabularMDP(drawn.step_transitions[0], rewards, 3, drawn.initial, reward_kind=kind)


def _exact(mdp: TabularMDP, flip: float, parts: int) -> tuple[FloatArray, float]:
    """P(table plays a in s, bit reported), of shape (parts, S, A, 2), and the mean loss."""
    states = mdp.shape.states
    chances, loss = np.zeros((parts, states, 2, 2)), 0.0
    best = float(mdp.initial @ optimum(mdp).values[0])
    cells = [(part, state) for part in range(parts) for state in range(states)]
    for actions in product(range(2), repeat=len(cells)):
        drawn = list(zip(cells, actions, strict=True))
        weight = float(np.prod([CHANCES[*cell, action] for cell, action in drawn]))
        table = np.reshape(actions, (parts, states))
        policy = table[np.maximum(np.arange(3) - (3 - parts), 0)]
        one = float(WHAT.law(mdp, policy, 0, Partition.whole(states))[0, 1])
        one = flip + (1 - 2 * flip) * one
        for cell, action in drawn:
            chances[*cell, action] += weight * np.array([1 - one, one])
        loss += weight * (best - float(mdp.initial @ policy_values(mdp, policy)[0]))
    return chances, loss


@pytest.mark.parametrize(
    ("kind", "states", "parts"),
    [
        ("deterministic", 3, 2),
        ("bernoulli", 3, 1),
        ("deterministic", 2, 1),
        ("deterministic", 2, 3),
        ("bernoulli", 2, 3),
    ],
)
def test_users_have_the_exact_law(kind: Kind, states: int, parts: int) -> None:
    mdp = _world(kind, states)
    law = TableDistribution.of(mdp.shape, CHANCES[:parts, :states], SEED)
    # With two states there are 2⁶ tables, and users are drawn by table; with three one by one.
    assert len(few_tables(mdp).lost) == (64 if states == 2 else 0)
    rng = np.random.default_rng(1)
    answers, lost = sample_bits(mdp, law, (0.5, 2.5), 0.2, USERS, rng)
    assert np.all(answers.sum(axis=(2, 3)) == USERS)

    def z(flip: float) -> float:
        chances, _ = _exact(mdp, flip, parts)
        spread = np.sqrt(USERS * chances * (1 - chances))
        assert np.all(answers[chances == 0] == 0)
        found, wanted = answers[chances > 0], USERS * chances[chances > 0]
        return float(np.abs((found - wanted) / spread[chances > 0]).max())

    assert z(0.2) < 6
    # A mutant that flips three bits in ten, not two, is found out (at about 30).
    assert z(0.3) > 6
    # Gaps lie in [0, H], so the mean loss of a user scatters by at most H/2.
    _, loss = _exact(mdp, 0.2, parts)
    assert abs(lost / USERS - loss) < 6 * 1.5 / np.sqrt(USERS)
    assert abs(lost / USERS - 1.1 * loss) > 6 * 1.5 / np.sqrt(USERS)


@entry
def _gathered(
    channel: Any, world: Any, buffer: Any, i: int, users: float, sums: Any, chance: Array,
    stream: Array,
) -> None:  # fmt: skip
    gather(channel, world, buffer, i, users, sums, chance, stream)


@pytest.mark.parametrize(("states", "users"), [(2, 5000), (3, 5000), (2, 10)])
def test_compiled_sums_are_those_that_a_service_decodes(states: int, users: int) -> None:
    """The channel's answers, added up as a tally and decoded in numpy, are what it adds to sums."""
    mdp = _world("bernoulli", states)
    learner, mechanism = build("ldp-returns", "return-bits", mdp.shape, episodes=10, epsilon=1.0)
    empty, rng = mechanism.no_statistics(), np.random.default_rng(4)
    known = replace(empty, users=3000)
    assert isinstance(learner, LDPReturns)
    planner, channel = learner.planner(empty, rng), mechanism.channel()
    run_planner(planner, known, rng)
    world, sums = table_users_of(mdp, planner.buffer.most_parts), sums_of(empty)
    plan = learner.read(planner.buffer, mdp.shape)
    decoded, streams = empty, rng.integers(0, 2**64, (2, 4), dtype=np.uint64)
    for i, assignment in enumerate(plan):
        scored = int(planner.buffer.scored[i])
        _gathered(channel, world, planner.buffer, i, float(users), sums, *streams)
        if not scored:
            # The answers are not kept: only where returns lie is known then.
            sums = sums_of(decoded)
            continue
        answers = channel.answers[:scored].astype(np.int64)
        assert np.all(answers.sum(axis=(2, 3)) == users)
        tally = np.concatenate([answers.ravel(), answers.sum(axis=-1).ravel()])
        decoded += mechanism.decode(tally, users, assignment)
        assert decoded.effects is not None
        for block in ("scores", "information", "thresholds", "squares"):
            np.testing.assert_allclose(
                getattr(sums, block), getattr(decoded.effects, block), rtol=1e-9, atol=1e-9
            )


def test_scores_are_unbiased_and_scatter_as_the_information_says() -> None:
    mdp = _world("deterministic")
    mechanism = ReturnBits(mdp.shape, 1.0)
    law = TableDistribution.of(mdp.shape, CHANCES[:2], SEED)
    expected = 0.4
    what = Return(WHAT.low, WHAT.high, round(expected * UNIT), scored=2)
    assignment = Assignment(law, 1.0, (Question(what, 0, np.full(3, 0.5)),))
    rng = np.random.default_rng(3)
    users, repeats = 2_000, 400
    scores, information = [], np.zeros((2, 3, 2, 2))
    for _ in range(repeats):
        drawn = sample_by_table(mdp, mechanism, assignment, users, rng)
        effects = mechanism.decode(drawn[0], users, assignment).effects
        assert effects is not None
        # Three parts are kept, and this law has two.
        assert not effects.scores[2:].any()
        scores.append(effects.scores[:2])
        information = effects.information[:2]
    chances, _ = _exact(mdp, 0.0, 2)
    one = chances[..., 1]
    total = one[0, 0].sum()
    effect = one - CHANCES[:2] * total
    mean = 0.5 * users * effect / float(mechanism.spread(what.expected / UNIT))
    sampled, spread = np.mean(scores, axis=0), np.std(scores, axis=0) / np.sqrt(repeats)
    assert np.all(np.abs(sampled - mean) < 6 * spread)
    # Twice the effect is found out.
    assert np.any(np.abs(sampled - 2 * mean) > 6 * spread)
    # The variance is the information's, as good as the expected bit was guessed: 6 standard
    # deviations of a sample variance are 6·√(2/400) = 0.42.
    share = np.var(scores, axis=0) / np.einsum("psaa->psa", information)
    assert np.all(np.abs(share - 1) < 0.5)


def test_one_user_at_a_time_learns_the_same_as_batches() -> None:
    mdp = TabularMDP(np.ones((1, 2, 1)), np.array([[0.9, 0.1]]), 1, reward_kind="bernoulli")
    learner, mechanism = build("ldp-returns", "return-bits", mdp.shape, episodes=300, epsilon=4.0)
    *_, last = run_protocol(mdp, learner, mechanism, 300, seed=1, replan="growth:0.1")
    assert last.report.sum() == 1
    assert last.statistics.users == 300
    reference = last.statistics.effects
    batches = simulate(mdp, learner, mechanism, 300, seed=1, replan="growth:0.1")
    sampled = batches.statistics[0].effects
    assert reference is not None
    assert sampled is not None
    for effects in (reference, sampled):
        z = effects.scores[0, 0, 0] / np.sqrt(effects.information[0, 0, 0, 0])
        # About 8 on average; wrong signs would be 14 standard deviations off.
        assert z > 2


def test_other_laws_are_refused() -> None:
    mdp = _world("deterministic")
    law = TableDistribution.of(
        mdp.shape, CHANCES[:1, :2], SEED, where=Partition(np.array([0, 1, 1]))
    )
    with pytest.raises(InputError, match="law"):
        sample_bits(mdp, law, (0.0, 1.0), 0.1, 10, np.random.default_rng(0))
    # Actions that all steps share must not count as those of a step.
    assignment = Assignment(
        TableDistribution.of(mdp.shape, CHANCES[:1], SEED),
        1.0,
        (Question(Return(0, UNIT, scored=2), 0, np.ones(3)),),
    )
    with pytest.raises(InputError, match=r"questions\.scored"):
        ReturnBits(mdp.shape, 1.0).decode(np.zeros(2 * 3 * 2 * 3, dtype=np.int64), 0, assignment)
