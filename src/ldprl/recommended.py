"""Which learner and mechanism to start with: by name, as a client has no learners to ask."""

from __future__ import annotations

from ldprl.shape import Shape

FEW_STATES = 6
"""Up to this many states a model is learnt with fewer users than effects on the return. Chosen on
draws from 1000 on, ε = 2, 10⁷ users, mean regret of ldp-evi and ldp-returns: RandomMDP(5, 3, 5)
5,400 and 82,000, RiverSwim(6, 20) 1.7·10⁵ and 5,300 (2·10⁴ users); RandomMDP(8, 3, 5) 1.1·10⁵ and
31,000, (12, 3, 8) 3.7·10⁵ and 51,000; on grids from 3×3 to 5×5 ldp-evi has 4 to 8 times as much."""
_FEW = ("ldp-evi", "subset-selection")
_MANY = ("ldp-returns", "return-bits")


def recommended_pair(shape: Shape, learner: str = "", mechanism: str = "") -> tuple[str, str]:
    """Return learner and mechanism; where one is given, the other that is recommended with it.

    With one state there is no model to learn, and a bit of the return is the best channel.
    """
    if learner or mechanism:
        usual = _MANY if learner == _MANY[0] or mechanism == _MANY[1] else _FEW
    else:
        usual = _FEW if 1 < shape.states <= FEW_STATES else _MANY
    return learner or usual[0], mechanism or usual[1]
