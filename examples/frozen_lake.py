"""FrozenLake, learnt from ten million walkers who never reveal where they went.

Each walker crosses the lake once and sends one private report. How often do later walkers reach the
goal, depending on how the report was made private?

    python examples/frozen_lake.py
"""

import numpy as np

from ldprl import (
    LDPEVI,
    Laplace,
    NoPrivacy,
    RandomizedResponse,
    SubsetSelection,
    TabularMDP,
    simulate,
)
from ldprl.worlds import optimum

USERS = 10_000_000
EPSILON = 2.0

lake = TabularMDP.from_gymnasium("FrozenLake-v1", horizon=20)
best = float(lake.initial @ optimum(lake).values[0])
print(f"{lake.shape.states} states, {lake.shape.actions} actions, {lake.horizon} steps")
print(f"The best policy reaches the goal in {best:.1%} of all episodes. What was learnt:\n")

print(f"{'mechanism':<22}{'ε':>6}{'goal reached':>15}")
for mechanism in (
    NoPrivacy(lake.shape),
    SubsetSelection(lake.shape, EPSILON),
    RandomizedResponse(lake.shape, EPSILON),
    Laplace(lake.shape, EPSILON),
):
    result = simulate(lake, LDPEVI(mechanism), mechanism, USERS, seed=0, replan="growth:0.1")
    # Regret is what users lost against the best policy; its last rise is what the latest lose.
    lost = np.diff(result.curves[0])[-1] / np.diff(result.checkpoints)[-1]
    reached = max(0.0, lake.raw_value(best - float(lost)))
    print(f"{mechanism.name:<22}{mechanism.guarantee.epsilon:>6g}{reached:>15.1%}")
