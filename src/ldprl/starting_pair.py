"""Which learner and mechanism to start with: by name, as a client has no learners to ask."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldprl.shape import Shape

MODEL_NOISE = 4.0
"""Up to this times √N, v·S³AH is small for N users: a model costs about that once, and the effects
on the return cost about √N. v is the noise of an answer to one of H steps about one of S²A
probabilities, and one user in S is in its state (studies/constants.md)."""
USUAL_USERS = 10**6
"""Where nobody says how many users there will be."""
MANY_STATES = 25
"""From this many states on, goals may be where nobody comes by chance (studies/constants.md)."""
_MODEL = ("ldp-ts", "subset-selection")
_RETURNS = ("ldp-returns", "return-bits")
_MANY = ("ldp-ways", "bits-and-moves")
_UNCHOSEN, _LARGEST = 1.0, 100.0
"""ε where none is chosen yet, and from where on it makes no difference."""
_SOUND = "ldp-evi"
"""Has a confidence set that holds with every mechanism."""


def recommended_pair(
    shape: Shape,
    epsilon: float | None,
    learner: str = "",
    mechanism: str = "",
    users: int | None = None,
) -> tuple[str, str]:
    """Return learner and mechanism; where one is given, the other that is recommended with it.

    Where ε is not chosen yet, they are those for ε = 1; where the number of users is not known,
    those for 10⁶. With one state there is no model to learn, and a bit of the return is the best
    channel.
    """
    if not learner and not mechanism:
        if shape.states >= MANY_STATES:
            return _MANY
        return _MODEL if shape.states > 1 and _model_pays(shape, epsilon, users) else _RETURNS
    for usual in (_RETURNS, _MANY):
        if usual[0] == learner or usual[1] == mechanism:
            return learner or usual[0], mechanism or usual[1]
    usual = _MODEL if mechanism in ("", _MODEL[1]) else (_SOUND, mechanism)
    return learner or usual[0], mechanism or usual[1]


def _model_pays(shape: Shape, epsilon: float | None, users: int | None) -> bool:
    """Return whether v·S³AH ≤ MODEL_NOISE·√N, where v = 4e^ε/(e^ε − 1)² = 1/sinh²(ε/2)."""
    size = shape.states**3 * shape.actions * shape.horizon
    half = min(max(_UNCHOSEN if epsilon is None else epsilon, 0.0), _LARGEST) / 2
    return size <= MODEL_NOISE * math.sqrt(users or USUAL_USERS) * math.sinh(half) ** 2
