"""Upper and lower bounds on regret, as functions with explicit constants."""

from ldprl.bounds.alternatives import Alternative as Alternative
from ldprl.bounds.alternatives import Instance as Instance
from ldprl.bounds.amplification import CentralGuarantee as CentralGuarantee
from ldprl.bounds.amplification import changed_bits as changed_bits
from ldprl.bounds.amplification import shuffle_epsilon as shuffle_epsilon
from ldprl.bounds.amplification import shuffle_regret_rate as shuffle_regret_rate
from ldprl.bounds.amplification import shuffle_user_guarantee as shuffle_user_guarantee
from ldprl.bounds.crowd import CrowdBounds as CrowdBounds
from ldprl.bounds.crowd import crowd_bounds as crowd_bounds
from ldprl.bounds.evi import EVIBound as EVIBound
from ldprl.bounds.evi import evi_rate as evi_rate
from ldprl.bounds.evi import evi_upper_bound as evi_upper_bound
from ldprl.bounds.evi import rivals_rate as rivals_rate
from ldprl.bounds.instance import InstanceBound as InstanceBound
from ldprl.bounds.instance import instance_lower_bound as instance_lower_bound
from ldprl.bounds.lower import psrl_rate as psrl_rate
from ldprl.bounds.lower import pucb_rate as pucb_rate
from ldprl.bounds.lower import regret_lower_bound_jdp as regret_lower_bound_jdp
from ldprl.bounds.lower import regret_lower_bound_ldp as regret_lower_bound_ldp
from ldprl.bounds.pair import WorldPair as WorldPair
from ldprl.bounds.pair import best_pair as best_pair
from ldprl.bounds.pair import pair_of as pair_of
from ldprl.bounds.table_of_rates import TableRow as TableRow
from ldprl.bounds.table_of_rates import table_one as table_one
from ldprl.bounds.upper import UpperBound as UpperBound
from ldprl.bounds.upper import regret_upper_bound as regret_upper_bound
