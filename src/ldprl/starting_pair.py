"""Which learner and mechanism to start with: by name, as a client has no learners to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldprl.shape import Shape

FEW_STATES = 3
"""Up to this many states a model is learnt with fewer users than effects on the return
(studies/constants.md)."""
MANY_STATES = 25
"""From this many states on, goals may be where nobody comes by chance (studies/constants.md)."""
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
