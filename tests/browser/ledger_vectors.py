"""Ledgers of the browser client, and what Python's rule for rolling budgets leaves in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ldprl import Budget
from ldprl.client.allowance import Allowance
from ldprl.client.entries import Entries, Entry
from ldprl.client.window import DAY, Moment, RollingBudget
from ldprl.errors import decimal_text


def ledger_vectors() -> Iterator[dict[str, Any]]:
    """Return ledgers at one moment, and what a budget for some days leaves in each."""
    rng = np.random.default_rng(6)
    for number in range(40):
        now, days = 1.9e9, float(rng.choice([0.25, 7.0, 365.0]))
        costs = rng.choice(["0.1", "0.25", "1", "1.5"], 6).tolist()
        # Some of them in the future: a clock that was put back.
        ages = np.round(rng.uniform(-0.2, 1.4, 6) * days * DAY, 3)
        settled = [None if rng.random() < 0.2 else round(now - age, 3) for age in ages]
        if number % 4 == 0:
            settled = [now - days * DAY if one is None else one for one in settled]
        moments = [Moment(one or now, 0.0, "") for one in settled]
        entries = Entries(
            {
                str(i): Entry(str(i), "d", Budget(cost), b"", settled=i if settled[i] else None)
                for i, cost in enumerate(costs)
            },
            moments,
        )
        epsilon = str(rng.choice(["0.5", "1", "4"]))
        rolling = RollingBudget(Budget(epsilon), days)
        left = Allowance(entries, rolling, Moment(now, 0.0, "")).left(Budget("0.25"))
        yield {
            "budget": {"epsilon": epsilon, "days": days},
            "now": now,
            "entries": [
                {"epsilon": cost} | ({} if one is None else {"settled": one})
                for cost, one in zip(costs, settled, strict=True)
            ],
            "epsilon": "0.25",
            "left": {
                "reports": left.reports,
                "counted": decimal_text("counted", float(left.counted.basic_epsilon)),
                "days": left.days,
            },
        }
