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
_FEW = ("ldp-ts", "subset-selection")
_MANY = ("ldp-returns", "return-bits")
_SOUND = "ldp-evi"
"""Has a confidence set that holds with every mechanism."""


def recommended_pair(shape: Shape, learner: str = "", mechanism: str = "") -> tuple[str, str]:
    """Return learner and mechanism; where one is given, the other that is recommended with it.

    With one state there is no model to learn, and a bit of the return is the best channel.
    """
    if not learner and not mechanism:
        return _FEW if 1 < shape.states <= FEW_STATES else _MANY
    if _MANY[0] == learner or _MANY[1] == mechanism:
        usual = _MANY
    else:
        usual = _FEW if mechanism in ("", _FEW[1]) else (_SOUND, mechanism)
    return learner or usual[0], mechanism or usual[1]
