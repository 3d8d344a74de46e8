"""Learners by the names that the command line, files and deployments use."""

from __future__ import annotations

from typing import NamedTuple

from ldprl.errors import InputError, above, positive, probability, whole_number
from ldprl.learning.learner import Learner
from ldprl.mechanisms.by_name import MECHANISMS, build_mechanism
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.naming import Catalogue
from ldprl.problem import Problem
from ldprl.shape import Shape
from ldprl.starting_pair import recommended_pair
from ldprl.statistics import MOST_USERS
from ldprl.structure import Structure

_RIVALS = {
    "dp-ucbvi": "studies.rivals:DPUCBVI",
    "private-ucb-vi": "studies.rivals:PrivateUCBVI",
    "pucb": "studies.rivals:PUCB",
}
"""Learners that were in the package up to version 0.2, and where they are in a checkout."""
LEARNERS: Catalogue[Learner] = Catalogue("learner", "ldprl.learning", Learner, _RIVALS)  # type: ignore[type-abstract]


class Pair(NamedTuple):
    """A learner and the mechanism that feeds it: names in the catalogue, or ``module:Class``."""

    learner: str
    mechanism: str

    def __str__(self) -> str:
        return f"{self.learner} with {self.mechanism}"

    @property
    def pure(self) -> bool:
        """Whether users have ε-LDP with δ = 0."""
        return "delta" not in MECHANISMS.find(self.mechanism).parameters()

    @property
    def promise(self) -> str:
        """What is known of the learner's regret."""
        return LEARNERS.find(self.learner).promise

    @property
    def by_user(self) -> bool:
        """Whether every user is simulated, so that time grows with their number.

        Users with a table each cannot be drawn as sums.
        """
        return LEARNERS.find(self.learner).statistics_kind == "effects"


def recommended_learner(shape: Shape, epsilon: float | None, users: int | None = None) -> str:
    """Return the name of the learner to start with; it has its usual mechanism."""
    return recommended_pair(shape, epsilon, users=users)[0]


def recommended(
    world: object, epsilon: float, users: int | None = None
) -> tuple[Learner, Mechanism]:
    """Return the learner and the mechanism to start with, as the command line takes them.

    Parameters
    ----------
    world
        An MDP, or a problem such as its shape; what is publicly known of an MDP is made use of.
    epsilon
        What a report may cost.
    users
        How many users are expected; None: 10⁶.

    Examples
    --------
    >>> from ldprl import riverswim
    >>> learner, mechanism = recommended(riverswim(states=3, horizon=4), epsilon=1.0)
    >>> learner.name, mechanism.name
    ('ldp-ts', 'subset-selection')
    """
    from ldprl.worlds.tabular import TabularMDP

    if users is not None:
        whole_number("users", users, 1, MOST_USERS)
    known = world if isinstance(world, TabularMDP) else None
    problem = world if known is None else known.shape
    if not isinstance(problem, Problem):
        raise InputError("world", world, "an MDP, or a problem such as its shape")
    learner, mechanism = problem.recommended(positive("epsilon", epsilon), "", "", users)
    structure = None if known is None else known.structure
    return build(
        learner, mechanism, problem, episodes=users or 1, epsilon=epsilon, structure=structure
    )


def check_pair(learner: str, mechanism: str) -> None:
    """Refuse a learner that reads other sums than the mechanism fills."""
    wanted, made = (
        LEARNERS.find(learner).statistics_kind,
        MECHANISMS.find(mechanism).statistics_kind,
    )
    if wanted != made:
        usable = ", ".join(
            name for name, one in MECHANISMS.items() if one.statistics_kind == wanted
        )
        readers = ", ".join(
            name for name, one in LEARNERS.items() if one.private and one.statistics_kind == made
        )
        expected = f"one of {usable} with {learner} ({mechanism} goes with {readers})"
        raise InputError("mechanism", mechanism, expected)


def check_structure(learner: str, structure: Structure | None) -> None:
    """Refuse a learner that would hand out actions that are not admissible."""
    if structure is None or structure.admissible is None:
        return
    if "admissible" not in LEARNERS.find(learner).uses:
        able = ", ".join(name for name, one in LEARNERS.items() if "admissible" in one.uses)
        raise InputError("learner", learner, f"one that keeps to admissible actions: {able}")


def build(
    learner: str,
    mechanism: str,
    shape: Problem,
    *,
    episodes: int,
    epsilon: float | None = None,
    delta: float = 0.0,
    constants: Constants = "sound",
    failure_probability: float | None = None,
    alpha: float | None = None,
    structure: Structure | None = None,
) -> tuple[Learner, Mechanism]:
    """Return a learner and the mechanism that feeds it, by name or by ``module:Class``.

    A parameter that is given and that neither uses is refused. Every learner is given the number
    of users; the structure is the world's, of which a learner uses what it can.
    """
    kind = LEARNERS.find(learner)
    given = {
        "epsilon": epsilon,
        "delta": delta or None,
        "failure_probability": failure_probability,
        "alpha": alpha,
    }
    if failure_probability is not None:
        probability("failure_probability", failure_probability, zero=False)
    if alpha is not None:
        above("alpha", alpha, 1)
    if not kind.private and MECHANISMS.find(mechanism).private:
        usable = ", ".join(name for name, one in LEARNERS.items() if one.private)
        expected = f"'none' with {learner}, which cannot use noisy sums (those that can: {usable})"
        raise InputError("mechanism", mechanism, expected)
    check_pair(learner, mechanism)
    check_structure(learner, structure)
    chosen = build_mechanism(
        mechanism, shape, epsilon, delta, constants=constants, squares=kind.needs_squares
    )
    used = parameters_of(learner, mechanism)
    for name, value in given.items():
        if value is not None and name not in used:
            who = f"{learner} and {mechanism}, which do not use it"
            raise InputError(name, value, f"none with {who}")
    agent = kind.build(chosen, **given, episodes=episodes, structure=structure)
    return agent, chosen


def parameters_of(learner: str, mechanism: str) -> set[str]:
    """Return what the constructors of a learner and a mechanism take."""
    return {*LEARNERS.find(learner).parameters(), *MECHANISMS.find(mechanism).parameters()}
