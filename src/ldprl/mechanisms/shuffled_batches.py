"""The shuffle model with noise that falls as the crowd grows (end of appendix I of the paper)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ldprl.assignment import Assignment
from ldprl.bisection import bisect
from ldprl.errors import InputError, instance_of, positive, probability
from ldprl.mechanisms.error_laws import ErrorLaws, additive_error_laws
from ldprl.mechanisms.layout import Layout
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.mechanisms.sensitivity import differing_bits
from ldprl.mechanisms.shuffle import Shuffle
from ldprl.shape import Array, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.sampling import RandomSource
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.simulation.world import TrueCounts


class ShuffledBatches(Mechanism):
    """M_sh with a p for every batch: the fewer users are shuffled together, the more local noise.

    The guarantee is (ε, δ) *joint* DP, not local: a shuffler is trusted. As printed (algorithm 8)
    the learner is sent all reports anew after every episode, and the difference of two such sums
    is one user's report, which no crowd hides. So each report is released once, in the sum of its
    batch (the users of one plan); what follows is post-processing. The n users of a batch are
    given n before they answer. Their p is the least for which the paper's amplification lemma, with
    all the bits that a user can change (:func:`~ldprl.bounds.shuffle_user_guarantee`), gives
    (ε, δ); where the lemma's condition on p fails, or it gives nothing, p is the one of pure ε
    locally. For a large batch p ~ 1/n: its noise does not grow with n, and with batches that grow
    by a factor the error of the sums is of order √(ln K)/ε where it was √K/ε.

    The lemma's constant is large: crowds below some 10⁵ users at ε = 1 hide nothing.

    Parameters
    ----------
    shape
        Sizes of the problem, with one model for all steps: that is what the lemma counts.
    epsilon, delta
        What each user has against everybody but the shuffler.
    """

    name = "shuffled-batches"
    # Its guarantee is joint, not local, and it must be given the size of each batch.
    catalogued = False
    summary = "M_sh with p set by the size of the batch; (ε, δ)-joint DP: a shuffler is trusted"
    constants = "sound"
    resolution = 1

    def __init__(self, shape: Shape, epsilon: float, delta: float) -> None:
        if instance_of("shape", shape, Shape, "mdp.shape").step_dependent:
            raise InputError("shape", shape, "one model for all steps")
        self.shape = shape
        self.epsilon = positive("epsilon", epsilon)
        self.delta = probability("delta", delta, zero=False)
        self._differing = differing_bits(Layout(shape))
        # δ₀·Σ_i e^{ε_1+…+ε_{i−1}} ≤ δ₀·bits·e^ε.
        self._bit_delta = self.delta * math.exp(-self.epsilon) / (6 * shape.horizon - 2)
        self._alone = Shuffle(shape, self.epsilon)

    def coin(self, users: int) -> float:
        """Return p for a batch of ``users``: the least that gives every one of them (ε, δ)."""
        most = self._alone.coin
        if not self._hides(users, most):
            return most
        return bisect(lambda coin: self._hides(users, coin), 0.0, most, halvings=60)[1]

    def local(self, users: int) -> Shuffle:
        """Return the randomizer that each of the ``users`` of a batch runs."""
        coin = self.coin(users)
        if coin == self._alone.coin:
            return self._alone
        # A hair more noise than asked, so that rounding cannot leave less.
        return Shuffle(self.shape, self._differing * math.log(2 / coin - 1) * (1 - 1e-12))

    def _hides(self, users: int, coin: float) -> bool:
        """Whether ``users`` who shuffle bits of this p hide each other, as the lemma has it."""
        from ldprl.bounds.amplification import shuffle_user_guarantee

        try:
            given = shuffle_user_guarantee(users + 1, self.shape.horizon, coin, self._bit_delta)
        except InputError:
            return False
        return given.epsilon <= self.epsilon and given.delta <= self.delta

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ) of *joint* differential privacy, given the shuffler."""
        return Guarantee(self.epsilon, self.delta)

    @property
    def error_laws(self) -> ErrorLaws:
        """Bernstein's bounds, in units of the noise of a user who answers alone.

        √(2vkt) + gt/3 with v the variance and g the range of a decoded bit without a crowd; both
        are less in a crowd, and ``reports`` counts a batch by its variance. Rewards are bounded
        around their rounded bits, whose scatter is that of rewards in [0, 1] with the same mean.
        """
        shape, bit = self.shape, _variance(self._alone)
        return additive_error_laws(
            shape,
            shape.horizon * bit,
            transitions=max(shape.horizon - 1, 1) * bit,
            linear=self._alone.gain / 3,
        )

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Return the report of a user who is a batch of one; others run :meth:`local`."""
        return self._alone.privatize(trajectory, assignment, source)

    def sample_tally(
        self, totals: TrueCounts, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw what the shuffler releases of a batch, exactly in distribution."""
        return self.local(totals.users).sample_tally(totals, assignment, rng)

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return unbiased sums of one batch, which must be whole: its size says what p was.

        A batch counts for at least one report, so that bounds which add up over the number of
        reports add up over batches too.
        """
        local = self.local(users)
        decoded = local.decode(tally, users, assignment)
        worth = max(1.0, users * _variance(local) / _variance(self._alone))
        return replace(decoded, reports=np.where(decoded.reports > 0, worth, 0.0))


def _variance(mechanism: Shuffle) -> float:
    """Return the variance of one decoded bit."""
    return mechanism.gain**2 * mechanism.flip * (1 - mechanism.flip)
