"""What certificates take: answers until a difference is certain, and regret."""

from __future__ import annotations

import numpy as np

from benchmarks.certificates import ratio, regrets
from benchmarks.row import Row
from ldprl.certificates import Bits, Scale, certificate

RUNS = 100
STEP = 500
"""Answers about each of the two policies between two looks at the certificate."""
DRAWS = range(1, 25)


def answers_needed(epsilon: float, difference: float, seed: int) -> int:
    """Return after how many answers a policy is certainly better, by this share of H."""
    rng, keep = np.random.default_rng(seed), 1 / (1 + np.exp(-epsilon))
    bits = []
    for worth in (0.5 + difference / 2, 0.5 - difference / 2):
        bits.append(keep * worth + (1 - keep) * (1 - worth))
    new, old, scale = Bits(0, 0), Bits(0, 0), Scale(keep, 1)
    while True:
        new, old = (
            one + Bits(STEP, int(rng.binomial(STEP, chance)))
            for one, chance in zip((new, old), bits, strict=True)
        )
        better = certificate(new, 1, scale, 0.95, old).better
        assert better is not None
        if better.low > 0:
            return new.users + old.users


def run() -> list[Row]:
    """Measure both; the regret in one run of each draw (benchmarks.certificates takes more)."""
    needed = [answers_needed(2.0, 0.05, seed) for seed in range(RUNS)]
    plain, alone, beside = np.array([np.mean(regrets(draw, 1), axis=0) for draw in DRAWS]).T
    what = "regret of 10⁶ users, RandomMDP(10, 3, 5), ε = 2, `ldp-returns`, 24 draws"
    rows = [
        Row(
            "return bits until a difference of 0.05·H is 95% certain, ε = 2, in 95 of 100 runs",
            float(np.quantile(needed, 0.95)),
            "the limit",
            30_000,
            "bits",
            limit=1.0,
        )
    ]
    for how, regret in (("certificates", alone), ("certificates and an incumbent", beside)):
        _, error = ratio(regret, plain)
        said = f"{what}, with {how} (standard error of the ratio {error:.2f})"
        rows.append(Row(said, regret.mean(), "without", plain.mean(), "", limit=1.15))
    return rows
