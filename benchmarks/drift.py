"""How soon a change is noticed: ``python -m benchmarks.drift noticed``.

Answers after the change at which 95% of 200 runs have the alarm (0.01), after four times as many
before it, in 50 blocks of one size; a policy's return changes from H/2 by a share of H.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from ldprl.certificates.change import split_evidence

RUNS = 200
ALARM = 0.01
BLOCKS = 50
SURE = 0.95


def noticed(epsilon: float, change: float, after: int) -> float:
    """Return the share of runs that notice a change after so many answers."""
    rng, keep = np.random.default_rng(1), 1 / (1 + math.exp(-epsilon))
    worth = np.full(BLOCKS, 0.5)
    worth[-BLOCKS // 5 :] -= change
    size = after * 5 // BLOCKS
    ones = rng.binomial(size, 1 - keep + (2 * keep - 1) * worth, (RUNS, BLOCKS))
    terms = split_evidence(np.full(ones.shape, size), ones)
    return float((np.logaddexp.reduce(terms, axis=-1) >= -math.log(ALARM)).mean())


def needed(epsilon: float, change: float) -> int:
    """Return about how many answers it takes until 95% of the runs notice, to 5%."""
    high = 100.0
    while noticed(epsilon, change, int(high)) < SURE:
        high *= 2
    low = high / 2
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        if noticed(epsilon, change, int(middle)) < SURE:
            low = middle
        else:
            high = middle
    return int(high)


def main() -> None:
    """Print the table of docs/drift.md."""
    if sys.argv[1:] != ["noticed"]:
        sys.exit(__doc__)
    for change in (0.2, 0.1, 0.05):
        row = [f"{needed(epsilon, change):,}" for epsilon in (1.0, 2.0, 4.0)]
        print(f"| {change:.2f} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
