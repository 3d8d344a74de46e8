"""What the shuffle figure varies: how many users have reported, and the local ε of a bit."""

from __future__ import annotations

HORIZON = 2
BIT_DELTA = 1e-6
"""The paper's δ₀, which it leaves open."""
LOCAL_EPSILONS = (0.2, 2.0, 5.0)
"""ε of a bit before shuffling; above about 11, 10⁸ users are too few for the claim."""
