"""What the histogram varies: ε, on the statistics of one cell under UCB-VI."""

from __future__ import annotations

EPISODES = 1_000
REPETITIONS = 1_000
STATE, ACTION = 0, 1
