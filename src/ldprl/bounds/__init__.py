"""Regret and privacy bounds of the paper as functions, with explicit constants."""

from ldprl.bounds.lower import (
    psrl_rate,
    pucb_rate,
    regret_lower_bound_jdp,
    regret_lower_bound_ldp,
)
from ldprl.bounds.shuffle import (
    CentralGuarantee,
    changed_bits,
    shuffle_epsilon,
    shuffle_regret_rate,
    shuffle_user_guarantee,
)
from ldprl.bounds.table import TableRow, table_one, to_markdown
from ldprl.bounds.upper import UpperBound, regret_upper_bound

__all__ = [
    "CentralGuarantee",
    "TableRow",
    "UpperBound",
    "changed_bits",
    "psrl_rate",
    "pucb_rate",
    "regret_lower_bound_jdp",
    "regret_lower_bound_ldp",
    "regret_upper_bound",
    "shuffle_epsilon",
    "shuffle_regret_rate",
    "shuffle_user_guarantee",
    "table_one",
    "to_markdown",
]
