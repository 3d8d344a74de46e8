"""Never worse than today: how many users may explore, so that users never lose more than allowed.

Users are to lose at most a share m of what the incumbent would have brought them. A plan gives a
share e of its users what the learner tries, of which nothing is assumed: they may earn 0. A share f
gets the policy under certificate, which earns at least (1 − ℓ)·v, v being the incumbent's mean
return; and the others get a policy that earns at least (1 + β)·v, the incumbent itself having
β = 0. The bounds β and ℓ are those of the certificates.

Who gets what is drawn, and nobody knows how many users a plan will have: it is public, and some
reports come late or never. So no plan may lose more than is allowed *per user*, and what chance
adds has to be saved first. Let D_i = D − m, with D the share of v that user i loses at most: 1, ℓ
or −β. For a fixed λ > 0

    e·(e^{λ(1 + β)} − 1) + f·(e^{λ(ℓ + β)} − 1) ≤ e^{λ(m + β)} − 1

says that E e^{λD_i} ≤ 1, whatever was before. If every plan keeps to it, the exponential of λ·ΣD_i
is a supermartingale from the first exploring user on, and ΣD_i ever rises by ln(1/α)/λ with
probability α at most (Ville). The users before were given the incumbent, and saved m each. So
nobody explores before ln(1/α)/(λm) users have reported; then ΣD_i ≤ 0 for all users whoever
reports, after each of them, at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ldprl.certificates.sequence import Interval

_RATE = 0.1
"""λ, per share of the incumbent's return. With a larger one exploring starts earlier, and a share
of about λ/2 less explores ever after: 5% less, from 600 users on at m = 0.05 and α = 0.05."""
_CANDIDATE = 0.5
"""Share of what may be lost that the policy under certificate may have, if it needs it: nothing is
gained before it is certain to be better. Half, as the learner needs the rest; not tuned."""


_MOST_BETTER = 50.0
"""Largest β that counts: more would change the shares by less than a hundredth."""


class Shares(NamedTuple):
    """Of the users of a plan: who explores, and who gets the policy under certificate."""

    exploring: float
    candidate: float


NOBODY = Shares(0.0, 0.0)


def cautious_shares(
    most_lost: float, reports: int, failure: float, safe: float, candidate: float, most: float
) -> Shares:
    """Return how many users may get what is not certain to be as good as the incumbent.

    Parameters
    ----------
    most_lost
        m.
    reports
        How many users have reported.
    failure
        α.
    safe, candidate
        −β and ℓ, what users of these policies lose at most; see :func:`most_short`.
    most
        The largest f.
    """
    if most_lost * reports < math.log(1 / failure) / _RATE:
        return NOBODY
    room = math.expm1(_RATE * (most_lost - safe))
    price = math.expm1(_RATE * (candidate - safe))
    given = min(most, _CANDIDATE * room / price) if price > 0 else most
    exploring = (room - given * price) / math.expm1(_RATE * (1 - safe))
    return Shares(min(exploring, 1 - given), given)


def most_short(better: float, worth: Interval) -> float:
    """Return the most that users of a policy lose, as a share of the incumbent's mean return.

    ``better`` is the least that it earns more than the incumbent, in [−H, H], and ``worth`` the
    interval for what that earns. No return is below 0, so that nobody loses more than 1.
    """
    if better >= 0:
        return -min(better / worth.high, _MOST_BETTER) if worth.high > 0 else 0.0
    return min(1.0, -better / worth.low) if worth.low > 0 else 1.0
