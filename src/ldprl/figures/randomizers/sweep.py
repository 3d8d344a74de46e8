"""What the map of randomizers varies: S, H and ε, and what the row is like that is asked for."""

from __future__ import annotations

STATES = (2, 3, 5, 10, 20, 50, 100)
HORIZONS = (2, 5, 20)
EPSILONS = (0.2, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 20.0)
SHOWN, CROWDED = "users spread evenly", "all users are in one state"
ROWS = {
    SHOWN: (None, 0.5),
    "values nearly alike": (None, 0.1),
    "values far apart": (None, 2.5),
    CROWDED: (1.0, 0.5),
}
"""Share of users in the state asked for (None: 1/S), standard deviation of V over the next ones."""
SHOWN_HORIZON = 5
ACTIONS = 2
DELTA = 1e-6
"""Of Gaussian noise; all others are pure."""
TIMED = (2, 10, 30)
"""S of the problems for which a client's time is measured, at ε = 2."""
TIMED_EPSILON = 2.0
