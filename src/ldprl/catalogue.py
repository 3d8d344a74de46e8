"""Mechanisms and learners by the names that the command line and files use."""

from __future__ import annotations

from ldprl.errors import InputError, one_of, positive, probability, real
from ldprl.learning.dp_ucbvi import DPUCBVI
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.ldp_psrl import LDPPSRL
from ldprl.learning.ldp_ts import LDPTS
from ldprl.learning.learner import Learner
from ldprl.learning.private_ucb_vi import PrivateUCBVI
from ldprl.learning.psrl import PSRL
from ldprl.learning.pucb import PUCB
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.privacy.bounded_noise import BoundedNoise
from ldprl.privacy.gaussian import Gaussian
from ldprl.privacy.laplace import Laplace
from ldprl.privacy.mechanism import Constants, Mechanism
from ldprl.privacy.none import NoPrivacy
from ldprl.privacy.randomized_response import RandomizedResponse
from ldprl.privacy.shuffle import Shuffle
from ldprl.privacy.subset_selection import SubsetSelection
from ldprl.shape import Shape

MECHANISMS: dict[str, type[Mechanism]] = {
    kind.name: kind
    for kind in (
        NoPrivacy,
        Laplace,
        Gaussian,
        RandomizedResponse,
        BoundedNoise,
        Shuffle,
        SubsetSelection,
    )
}
LEARNERS: dict[str, type[Learner]] = {
    kind.name: kind
    for kind in (
        UCBVI,
        UCBVIBernstein,
        PSRL,
        PUCB,
        LDPOBI,
        LDPPSRL,
        PrivateUCBVI,
        DPUCBVI,
        LDPEVI,
        LDPTS,
    )
}
_OPTIMISTS: dict[str, type[PrivateUCBVI | DPUCBVI | LDPEVI]] = {
    kind.name: kind for kind in (PrivateUCBVI, DPUCBVI, LDPEVI)
}
# Beyond these, tables of noise do not fit into memory or e^ε into a float.
_EPSILON_RANGE = (1e-4, 1e6)


def build_mechanism(
    name: str,
    shape: Shape,
    epsilon: float | None = None,
    delta: float = 0.0,
    *,
    constants: Constants = "sound",
    squares: bool = False,
) -> Mechanism:
    """Return the mechanism called ``name``; ``none`` ignores ε and δ, pure mechanisms δ."""
    one_of("mechanism", name, MECHANISMS)
    probability("delta", delta, zero=True)
    least, most = _EPSILON_RANGE
    if epsilon is not None and not least <= positive("epsilon", epsilon) <= most:
        raise InputError("epsilon", epsilon, f"a number from {least:g} to {most:g}")
    if name == NoPrivacy.name:
        return NoPrivacy(shape, constants=constants)
    if epsilon is None:
        raise InputError("epsilon", None, f"a finite number > 0 for {name}")
    if name == Laplace.name:
        return Laplace(shape, epsilon, constants=constants, squares=squares)
    if name == RandomizedResponse.name:
        return RandomizedResponse(shape, epsilon, constants=constants, squares=squares)
    if name == Shuffle.name:
        return Shuffle(shape, epsilon, constants=constants, squares=squares)
    if name == SubsetSelection.name:
        return _subset_selection(shape, epsilon, constants, squares)
    if delta == 0:
        raise InputError("delta", delta, f"a number in (0, 1) for {name}")
    kind = Gaussian if name == Gaussian.name else BoundedNoise
    return kind(shape, epsilon, delta, constants=constants, squares=squares)


def _subset_selection(
    shape: Shape, epsilon: float, constants: Constants, squares: bool
) -> SubsetSelection:
    """Return the mechanism that the paper does not have, if nothing of the paper's is asked."""
    one_of("constants", constants, ("sound", "paper"))
    if constants == "paper":
        expected = f"'sound' with {SubsetSelection.name}, which is not in the paper"
        raise InputError("constants", constants, expected)
    if squares:
        expected = f"one that reports squared rewards, which {SubsetSelection.name} does not ask"
        raise InputError("mechanism", SubsetSelection.name, expected)
    return SubsetSelection(shape, epsilon)


def build(
    learner: str,
    mechanism: str,
    shape: Shape,
    *,
    episodes: int,
    epsilon: float | None = None,
    delta: float = 0.0,
    constants: Constants = "sound",
    failure_probability: float = 0.1,
    alpha: float = 2.0,
) -> tuple[Learner, Mechanism]:
    """Return a learner and the mechanism that feeds it, both by name.

    Parameters that the two do not use are checked all the same.
    """
    one_of("learner", learner, LEARNERS)
    one_of("mechanism", mechanism, MECHANISMS)
    probability("failure_probability", failure_probability, zero=False)
    if real("alpha", alpha, "a finite number > 1") <= 1:
        raise InputError("alpha", alpha, "a finite number > 1")
    if not LEARNERS[learner].private and mechanism != NoPrivacy.name:
        usable = ", ".join(name for name, kind in LEARNERS.items() if kind.private)
        expected = f"'none' with {learner}, which cannot use noisy sums (those that can: {usable})"
        raise InputError("mechanism", mechanism, expected)
    squares = learner == LDPPSRL.name
    chosen = build_mechanism(mechanism, shape, epsilon, delta, constants=constants, squares=squares)
    agent: Learner
    if learner in _OPTIMISTS:
        agent = _OPTIMISTS[learner](chosen, failure_probability=failure_probability)
    elif learner == LDPOBI.name:
        agent = LDPOBI(chosen, failure_probability=failure_probability, alpha=alpha)
    elif learner == LDPPSRL.name:
        agent = LDPPSRL(chosen, episodes, failure_probability=failure_probability)
    elif learner == LDPTS.name:
        agent = LDPTS(chosen)
    elif learner == PSRL.name:
        agent = PSRL(constants=constants)
    elif learner == PUCB.name:
        if epsilon is None:
            raise InputError("epsilon", None, f"a finite number > 0 for {learner}")
        agent = PUCB(shape, epsilon, episodes, failure_probability=failure_probability)
    else:
        kind = UCBVIBernstein if learner == UCBVIBernstein.name else UCBVI
        agent = kind(failure_probability=failure_probability)
    return agent, chosen
