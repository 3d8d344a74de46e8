"""``ldprl regret --until-certified``: after how many users a policy is certified to be good."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ldprl.cli.show import number, show_json, show_table
from ldprl.rounding import at_least, at_most

if TYPE_CHECKING:
    from ldprl.learning.learner import Learner
    from ldprl.mechanisms.mechanism import Mechanism
    from ldprl.simulation.replan import Replan
    from ldprl.worlds.tabular import TabularMDP


def show_until_certified(
    simulation: tuple[TabularMDP, Learner, Mechanism, int],
    gap: float,
    runs: int,
    seed: int,
    schedule: Replan,
    as_json: bool,
) -> None:
    """Simulate each run until its policy is certified, and show how long that took."""
    from ldprl.cli.progress import progress_bar
    from ldprl.simulation.certified import until_certified

    with progress_bar(schedule, simulation[-1], runs) as progress:
        reached = [
            until_certified(*simulation, gap, seed, run, schedule, progress) for run in range(runs)
        ]
    if as_json:
        show_json({"gap": gap, "runs": [asdict(one) for one in reached]})
        return
    rows = [
        (
            f"{run + 1}",
            "not yet" if one.users is None else f"{one.users:,}",
            number(one.regret),
            f"{at_least(one.worth.low, 4)} to {at_most(one.worth.high, 4)}",
            at_most(one.optimistic, 4),
        )
        for run, one in enumerate(reached)
    ]
    heads = ("run", "users", "regret", "certified worth", "optimistic value")
    show_table(f"Users until a policy is certified within {gap:g}", heads, rows, right=heads)
