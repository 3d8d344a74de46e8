"""``ldprl advise --env``: how many users a policy with parameters takes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ldprl.cli.progress import counted_bar
from ldprl.cli.regret_env import numbers, stop_at_ctrl_c, units
from ldprl.cli.show import number, show_json, show_line
from ldprl.errors import InputError


def advise_in_env(
    env: str,
    *,
    epsilon: float | None,
    policy: str | None,
    hidden: str | None,
    return_range: str | None,
    scale: str | None,
    start: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Show the formula, and what a simulation finds."""
    from ldprl.advice.sampled import SampledAdvice, advise_sampled

    if epsilon is None:
        raise InputError("epsilon", None, "a number > 0: with --env users are what is asked for")
    low_high = numbers("return_range", return_range, 2)
    with counted_bar("users") as progress, stop_at_ctrl_c() as stop:
        found: SampledAdvice = advise_sampled(
            env,
            policy or "linear",
            epsilon,
            hidden=units("hidden", hidden),
            return_range=None if low_high is None else (low_high[0], low_high[1]),
            scale=numbers("scale", scale),
            start=start,
            progress=progress,
            stop=stop,
            **given,
        )
    if as_json:
        show_json(found.document())
        return
    private, free = found.private, found.free
    best = "the best policy" if private.best is not None else "what is learnt without privacy"
    show_line(
        f"About {_count(found.by_formula)} users by d²v/gap²: d = {found.parameters} parameters,"
        f" v = {found.variance:.3g} at ε = {private.epsilon:g}, gap = {found.gap:.0%} of the range"
        f" of returns, from {number(private.start_return)} to {number(found.goal)} ({best}).",
        style="bold",
    )
    runs, last = len(private.worth), int(private.users[-1])
    late = int(np.isinf(found.needed).sum())
    failed = f"; {late} of {runs} runs not within {last:,}" if late else ""
    show_line(
        f"Simulated: {1 - found.target:.0%} of the gap is closed for good after"
        f" {_count(float(np.median(found.needed)))} users in the median of {runs} runs, after"
        f" {_count(float(found.needed.max()))} in the worst{failed}."
    )
    final, without = private.final_return, free.final_return
    show_line(
        f"After {last:,} users the policy is worth {number(final.mean())} (worst run"
        f" {number(final.min())}), without privacy {number(without.mean())}, where"
        f" {_count(float(np.median(found.needed_without_privacy)))} users are needed."
    )
    if private.unscaled:
        show_line(f"Without bounds: {', '.join(private.unscaled)}; see --scale.")


def _count(users: float) -> str:
    return f"{users:,.0f}" if math.isfinite(users) else "more"
