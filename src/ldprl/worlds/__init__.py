"""Finite-horizon tabular MDPs, families of them, and their exact values."""

from ldprl.worlds.evaluation import Optimum as Optimum
from ldprl.worlds.evaluation import occupancy as occupancy
from ldprl.worlds.evaluation import optimum as optimum
from ldprl.worlds.evaluation import policy_values as policy_values
from ldprl.worlds.evaluation import regret as regret
from ldprl.worlds.families import bandit as bandit
from ldprl.worlds.families import contextual_bandit as contextual_bandit
from ldprl.worlds.families import grid_world as grid_world
from ldprl.worlds.families import mixture as mixture
from ldprl.worlds.families import random_mdp as random_mdp
from ldprl.worlds.families import riverswim as riverswim
from ldprl.worlds.gymnasium_bridge import GymnasiumMDP as GymnasiumMDP
from ldprl.worlds.gymnasium_bridge import RewardMap as RewardMap
from ldprl.worlds.hard_tree import HardTree as HardTree
from ldprl.worlds.hard_tree import hard_tree as hard_tree
from ldprl.worlds.specification import mdp_from as mdp_from
from ldprl.worlds.tabular import TabularMDP as TabularMDP
