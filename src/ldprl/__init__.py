"""ldprl: reinforcement learning from users whose data never leaves them in the clear."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldprl.accounting.composition import Budget as Budget
    from ldprl.assignment import Assignment as Assignment
    from ldprl.catalogue import recommended as recommended
    from ldprl.client.ledger import Ledger as Ledger
    from ldprl.errors import InputError as InputError
    from ldprl.learning.ldp_es import LDPES as LDPES
    from ldprl.learning.ldp_evi import LDPEVI as LDPEVI
    from ldprl.learning.ldp_obi import LDPOBI as LDPOBI
    from ldprl.learning.ldp_returns import LDPReturns as LDPReturns
    from ldprl.learning.ldp_ts import LDPTS as LDPTS
    from ldprl.learning.ldp_ways import LDPWays as LDPWays
    from ldprl.learning.learner import Learner as Learner
    from ldprl.learning.psrl import LDPPSRL as LDPPSRL
    from ldprl.learning.psrl import PSRL as PSRL
    from ldprl.learning.ucb_vi import UCBVI as UCBVI
    from ldprl.learning.ucb_vi import UCBVIBernstein as UCBVIBernstein
    from ldprl.mechanisms.bits_and_moves import BitsAndMoves as BitsAndMoves
    from ldprl.mechanisms.bounded_noise import BoundedNoise as BoundedNoise
    from ldprl.mechanisms.counting import CountingMechanism as CountingMechanism
    from ldprl.mechanisms.gaussian import Gaussian as Gaussian
    from ldprl.mechanisms.laplace import Laplace as Laplace
    from ldprl.mechanisms.mechanism import Mechanism as Mechanism
    from ldprl.mechanisms.mechanism import PrivacyWarning as PrivacyWarning
    from ldprl.mechanisms.none import NoPrivacy as NoPrivacy
    from ldprl.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
    from ldprl.mechanisms.return_bits import ReturnBits as ReturnBits
    from ldprl.mechanisms.shuffle import Shuffle as Shuffle
    from ldprl.mechanisms.subset_selection import SubsetSelection as SubsetSelection
    from ldprl.mechanisms.threshold_bits import ThresholdBits as ThresholdBits
    from ldprl.mechanisms.trajectory import Trajectory as Trajectory
    from ldprl.protocol.statement import privacy_statement as privacy_statement
    from ldprl.shape import Shape as Shape
    from ldprl.simulation.engine import Simulation as Simulation
    from ldprl.simulation.engine import simulate as simulate
    from ldprl.simulation.learn import learn as learn
    from ldprl.simulation.reference import run_protocol as run_protocol
    from ldprl.simulation.runs import Rollouts as Rollouts
    from ldprl.statistics import Statistics as Statistics
    from ldprl.worlds import TabularMDP as TabularMDP
    from ldprl.worlds import grid_world as grid_world
    from ldprl.worlds import hard_tree as hard_tree
    from ldprl.worlds import random_mdp as random_mdp
    from ldprl.worlds import riverswim as riverswim
    from ldprl.worlds.contexts import Contexts as Contexts

__version__ = "0.2.0"

# Loaded on first use, so that a client that only privatizes never imports the learner's side.
_HOMES = {
    "Assignment": "ldprl.assignment",
    "BitsAndMoves": "ldprl.mechanisms.bits_and_moves",
    "BoundedNoise": "ldprl.mechanisms.bounded_noise",
    "Budget": "ldprl.accounting.composition",
    "Contexts": "ldprl.worlds.contexts",
    "CountingMechanism": "ldprl.mechanisms.counting",
    "Gaussian": "ldprl.mechanisms.gaussian",
    "grid_world": "ldprl.worlds",
    "hard_tree": "ldprl.worlds",
    "InputError": "ldprl.errors",
    "Laplace": "ldprl.mechanisms.laplace",
    "LDPES": "ldprl.learning.ldp_es",
    "LDPEVI": "ldprl.learning.ldp_evi",
    "LDPOBI": "ldprl.learning.ldp_obi",
    "LDPPSRL": "ldprl.learning.psrl",
    "LDPReturns": "ldprl.learning.ldp_returns",
    "LDPTS": "ldprl.learning.ldp_ts",
    "LDPWays": "ldprl.learning.ldp_ways",
    "learn": "ldprl.simulation.learn",
    "Learner": "ldprl.learning.learner",
    "Ledger": "ldprl.client.ledger",
    "Mechanism": "ldprl.mechanisms.mechanism",
    "NoPrivacy": "ldprl.mechanisms.none",
    "privacy_statement": "ldprl.protocol.statement",
    "PrivacyWarning": "ldprl.mechanisms.mechanism",
    "PSRL": "ldprl.learning.psrl",
    "random_mdp": "ldprl.worlds",
    "RandomizedResponse": "ldprl.mechanisms.randomized_response",
    "recommended": "ldprl.catalogue",
    "riverswim": "ldprl.worlds",
    "ReturnBits": "ldprl.mechanisms.return_bits",
    "Rollouts": "ldprl.simulation.runs",
    "run_protocol": "ldprl.simulation.reference",
    "Shape": "ldprl.shape",
    "Shuffle": "ldprl.mechanisms.shuffle",
    "simulate": "ldprl.simulation.engine",
    "Simulation": "ldprl.simulation.engine",
    "Statistics": "ldprl.statistics",
    "SubsetSelection": "ldprl.mechanisms.subset_selection",
    "TabularMDP": "ldprl.worlds",
    "ThresholdBits": "ldprl.mechanisms.threshold_bits",
    "Trajectory": "ldprl.mechanisms.trajectory",
    "UCBVI": "ldprl.learning.ucb_vi",
    "UCBVIBernstein": "ldprl.learning.ucb_vi",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ldprl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
