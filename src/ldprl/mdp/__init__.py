"""Finite-horizon tabular MDPs, families of them, and their exact values."""

from ldprl.mdp.evaluation import Optimum, occupancy, optimum, policy_values, regret
from ldprl.mdp.families import grid_world, mixture, random_mdp, riverswim
from ldprl.mdp.gymnasium_bridge import GymnasiumMDP, RewardMap
from ldprl.mdp.hard_tree import HardTree, hard_tree
from ldprl.mdp.specification import mdp_from
from ldprl.mdp.tabular import TabularMDP

__all__ = [
    "GymnasiumMDP",
    "HardTree",
    "Optimum",
    "RewardMap",
    "TabularMDP",
    "grid_world",
    "hard_tree",
    "mdp_from",
    "mixture",
    "occupancy",
    "optimum",
    "policy_values",
    "random_mdp",
    "regret",
    "riverswim",
]
