"""Finite-horizon tabular MDPs, families of them, and their exact values."""

from ldprl.mdp.evaluation import Optimum as Optimum
from ldprl.mdp.evaluation import occupancy as occupancy
from ldprl.mdp.evaluation import optimum as optimum
from ldprl.mdp.evaluation import policy_values as policy_values
from ldprl.mdp.evaluation import regret as regret
from ldprl.mdp.families import grid_world as grid_world
from ldprl.mdp.families import mixture as mixture
from ldprl.mdp.families import random_mdp as random_mdp
from ldprl.mdp.families import riverswim as riverswim
from ldprl.mdp.gymnasium_bridge import GymnasiumMDP as GymnasiumMDP
from ldprl.mdp.gymnasium_bridge import RewardMap as RewardMap
from ldprl.mdp.hard_tree import HardTree as HardTree
from ldprl.mdp.hard_tree import hard_tree as hard_tree
from ldprl.mdp.specification import mdp_from as mdp_from
from ldprl.mdp.tabular import TabularMDP as TabularMDP
