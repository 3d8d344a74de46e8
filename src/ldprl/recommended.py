"""Which learner and mechanism to start with: by name, as a client has no learners to ask."""

from __future__ import annotations

from ldprl.shape import Shape

FEW_STATES = 3
"""Up to this many states a model is learnt with fewer users than effects on the return. Chosen on
draws and seeds 1000-1009, 10⁶ users: mean regret of ldp-ts and ldp-returns, in thousands,

=======================  ===========  ============
problem                  ε = 0.5      ε = 2
=======================  ===========  ============
RandomMDP(2, 2, 2)       1.7, 2.9     0.2, 0.6
RandomMDP(2, 2, 5)       7.5, 14      0.3, 4.0
RandomMDP(3, 2, 3)       9.0, 9.3     0.5, 3.7
RandomMDP(3, 2, 10)      36, 44       1.8, 21
RandomMDP(4, 2, 4)       21, 12       1.7, 6.1
RandomMDP(5, 3, 5)       55, 27       4.2, 14
RandomMDP(6, 3, 3)       53, 27       4.9, 11
RiverSwim(4, 10)         118, 21      6.7, 5.2
RiverSwim(6, 20)         1,050, 61    66, 14
=======================  ===========  ============

ldp-evi has 1.1 to 4.5 times as much as ldp-ts in all of them but RandomMDP(2, 2, 5) at ε = 0.5 (0.7
times). With four to six states a model is better at ε = 2 on RandomMDP, bits of the return are in
sum."""
MANY_STATES = 25
"""From this many states on, goals may be where nobody comes by chance. Mean regret of ldp-ways and
ldp-returns, ε = 2, 10⁶ users, in thousands: CliffWalking (38 states) 43 and 221 (seed 1000), which
learn 100% and 95%; the 7×7 grid 441 and 1,037 (seeds 1000-1003), the 5×5 grid 135 and 99,
RandomMDP(25, 4, 10) 31 and 39 (draws 1000-1005), FrozenLake (12 states) 14 and 14. Above 128 states
they are the same."""
_FEW = ("ldp-ts", "subset-selection")
_SOME = ("ldp-returns", "return-bits")
_MANY = ("ldp-ways", "bits-and-moves")
_SOUND = "ldp-evi"
"""Has a confidence set that holds with every mechanism."""


def recommended_pair(shape: Shape, learner: str = "", mechanism: str = "") -> tuple[str, str]:
    """Return learner and mechanism; where one is given, the other that is recommended with it.

    With one state there is no model to learn, and a bit of the return is the best channel.
    """
    if not learner and not mechanism:
        if shape.states >= MANY_STATES:
            return _MANY
        return _FEW if 1 < shape.states <= FEW_STATES else _SOME
    for usual in (_SOME, _MANY):
        if usual[0] == learner or usual[1] == mechanism:
            return learner or usual[0], mechanism or usual[1]
    usual = _FEW if mechanism in ("", _FEW[1]) else (_SOUND, mechanism)
    return learner or usual[0], mechanism or usual[1]
