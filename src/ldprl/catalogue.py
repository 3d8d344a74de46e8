"""Learners by the names that the command line, files and deployments use."""

from __future__ import annotations

from ldprl.errors import InputError, one_of, probability, real
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
from ldprl.mechanisms.catalogue import MECHANISMS, build_mechanism
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.shape import Shape

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
