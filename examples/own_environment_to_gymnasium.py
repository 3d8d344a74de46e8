"""A world of one's own, handed to Gymnasium and learnt privately.

A reading app suggests a short or a long text; the reader is fresh, tired, or has gone to bed. Long
texts are enjoyed more, and tire: they are best kept for the end.

    python examples/own_environment_to_gymnasium.py
"""

import numpy as np
from gymnasium.utils.env_checker import check_env

from ldprl import LDPEVI, SubsetSelection, TabularMDP, simulate
from ldprl.worlds import policy_values

ACTIONS = ("short", "long")

# States are 0, fresh; 1, tired; 2, in bed.
reader = TabularMDP(
    transitions=np.array(  # from each state, for each action: the chance of each next state
        [
            [[0.9, 0.1, 0.0], [0.1, 0.5, 0.4]],
            [[0.5, 0.4, 0.1], [0.0, 0.2, 0.8]],
            [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]],
        ]
    ),
    rewards=np.array([[0.6, 0.9], [0.4, 0.5], [0.0, 0.0]]),  # mean enjoyment, in [0, 1]
    horizon=5,
    initial=np.array([1.0, 0.0, 0.0]),
    reward_kind="bernoulli",
)

# 1. Any of Gymnasium's tools can use it.
env = reader.to_gymnasium()
check_env(env, skip_render_check=True)

# 2. A service learns from readers' private reports...
mechanism = SubsetSelection(reader.shape, epsilon=2.0)
learner = LDPEVI(mechanism)
result = simulate(reader, learner, mechanism, episodes=1_000_000, seed=0)
policy = learner.plan(result.statistics[0], np.random.default_rng(0))[0].table
for step, row in enumerate(policy):
    fresh, tired = (ACTIONS[action] for action in row[:2])
    print(f"text {step + 1}   fresh: {fresh:<8} tired: {tired}")

# 3. ... and the policy is played in the environment.
enjoyed = []
for seed in range(2000):
    state, info = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        state, reward, over, _, info = env.step(policy[info["step"], state])
        total += reward
    enjoyed.append(total)
expected = float(reader.initial @ policy_values(reader, policy)[0])
print(f"\nenjoyed {np.mean(enjoyed):.2f} of {reader.horizon} texts; expected {expected:.2f}")
