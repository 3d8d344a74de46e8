"""Upper and lower bounds on regret, as functions with explicit constants."""

from ldprl.bounds.alternatives import Alternative, Instance
from ldprl.bounds.crowd import CrowdBounds, crowd_bounds
from ldprl.bounds.evi import (
    EVIBound,
    evi_rate,
    evi_upper_bound,
    rivals_rate,
)
from ldprl.bounds.instance import InstanceBound, instance_lower_bound
from ldprl.bounds.lower import (
    psrl_rate,
    pucb_rate,
    regret_lower_bound_jdp,
    regret_lower_bound_ldp,
)
from ldprl.bounds.pair import WorldPair, best_pair, pair_of
from ldprl.bounds.shuffle import (
    CentralGuarantee,
    changed_bits,
    shuffle_epsilon,
    shuffle_regret_rate,
    shuffle_user_guarantee,
)
from ldprl.bounds.table import TableRow, table_one
from ldprl.bounds.upper import UpperBound, regret_upper_bound

__all__ = [
    "Alternative",
    "CentralGuarantee",
    "CrowdBounds",
    "EVIBound",
    "Instance",
    "InstanceBound",
    "TableRow",
    "UpperBound",
    "WorldPair",
    "best_pair",
    "changed_bits",
    "crowd_bounds",
    "evi_rate",
    "evi_upper_bound",
    "instance_lower_bound",
    "pair_of",
    "psrl_rate",
    "pucb_rate",
    "regret_lower_bound_jdp",
    "regret_lower_bound_ldp",
    "regret_upper_bound",
    "rivals_rate",
    "shuffle_epsilon",
    "shuffle_regret_rate",
    "shuffle_user_guarantee",
    "table_one",
]
