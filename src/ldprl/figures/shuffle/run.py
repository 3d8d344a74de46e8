"""Makes the data of the shuffle figure."""

from __future__ import annotations

import math

import pyarrow as pa

from ldprl.bounds import changed_bits, shuffle_epsilon, shuffle_user_guarantee
from ldprl.errors import InputError
from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.shuffle.sweep import BIT_DELTA, HORIZON, LOCAL_EPSILONS
from ldprl.simulation.regret import checkpoints


def run(laboratory: Laboratory) -> pa.Table:
    """Return ε_{k,c} of a bit and what a user has, for each k at which the claim holds."""
    rows = []
    for local in LOCAL_EPSILONS:
        coin = 2 / (math.exp(local) + 1)
        for users in checkpoints(laboratory.settings.episodes).tolist():
            try:
                bit = shuffle_epsilon(users + 1, HORIZON, coin, BIT_DELTA)
                user = shuffle_user_guarantee(users + 1, HORIZON, coin, BIT_DELTA)
            except InputError:
                continue  # p is outside the interval that the claim asks for
            rows.append(
                {
                    "bit_epsilon": local,
                    "users": users,
                    "shuffled_bit_epsilon": bit,
                    "shuffled_user_epsilon": user.epsilon,
                    "shuffled_user_delta": user.delta,
                    "local_user_epsilon": changed_bits(HORIZON) * local,
                    "claimed_user_epsilon": HORIZON * local,
                }
            )
    schema = pa.schema(
        {
            name: pa.int64() if name == "users" else pa.float64()
            for name in (
                "bit_epsilon",
                "users",
                "shuffled_bit_epsilon",
                "shuffled_user_epsilon",
                "shuffled_user_delta",
                "local_user_epsilon",
                "claimed_user_epsilon",
            )
        }
    )
    return pa.Table.from_pylist(rows, schema=schema)
