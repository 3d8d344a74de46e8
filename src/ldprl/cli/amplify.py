"""``ldprl amplify``: what a crowd that a relay mixes adds to each report's own privacy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ldprl.cli import options
from ldprl.cli.numbers import shape_from, warn_of_delta
from ldprl.cli.show import show_json, show_line
from ldprl.errors import InputError, positive, probability
from ldprl.rounding import at_least, at_most

if TYPE_CHECKING:
    from ldprl.accounting.blanket import Blanket


def amplify(
    epsilon: Annotated[
        float | None, options.real("E", "Local ε₀ > 0 of one report.", positive)
    ] = None,
    central_epsilon: Annotated[
        float | None, options.real("E", "ε > 0 that a report has in the crowd.", positive)
    ] = None,
    crowd: Annotated[int | None, options.whole("N", "Reports that are mixed, such as 1e5.")] = None,
    delta: Annotated[float, options.real("D", "δ in (0, 1) in the crowd.")] = 1e-8,
    mechanism: Annotated[
        str | None,
        options.mechanism(
            "Use what is known of this mechanism; needs the three sizes. \\[default: any]"
        ),
    ] = None,
    states: Annotated[int | None, options.STATES] = None,
    actions: Annotated[int | None, options.ACTIONS] = None,
    horizon: Annotated[int | None, options.HORIZON] = None,
    participations: Annotated[
        int, options.whole("N", "Also for a user who takes part this many times.", at_most=10**4)
    ] = 1,
    out: Annotated[
        Path | None, options.picture("Draw central ε by crowd into FILE.png, .svg or .pdf.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compute what shuffling adds: central (ε, δ) of a crowd of reports, each ε₀ by itself.

    Give two of --epsilon, --crowd and --central-epsilon; the third is computed, and errs on the
    safe side. It holds against anybody who sees the reports without knowing who sent which. The
    ε₀ of each report holds in any case.
    """
    from dataclasses import replace

    from ldprl.accounting import shuffling
    from ldprl.accounting.composition import composed_epsilon

    probability("delta", delta, zero=False)
    blankets = _blankets(mechanism, {"states": states, "actions": actions, "horizon": horizon})
    if sum(given is not None for given in (epsilon, central_epsilon, crowd)) != 2:
        names = "exactly two of --epsilon, --central-epsilon and --crowd"
        raise InputError("epsilon", epsilon, names)
    local, central, users = epsilon or 0.0, central_epsilon or 0.0, crowd or 0
    if epsilon is None:
        local = shuffling.largest_local_epsilon(users, central, delta, blankets)
    elif crowd is None:
        users = shuffling.smallest_crowd(blankets(local), central, delta)
    built = blankets(local)
    if central_epsilon is None:
        central = shuffling.central_epsilon(built, users, delta)
    half = shuffling.central_epsilon(built, max(1, users // 2), delta)
    warn_of_delta(delta, users)
    together = central
    if participations > 1:
        pair = shuffling.crowd_pair(built, users)
        together = composed_epsilon([replace(pair, copies=participations)], delta)
    if out is not None:
        from ldprl.figures.privacy_plots import plot_crowds

        plot_crowds(built, local, users, delta, mechanism or "any mechanism").savefig(out, dpi=160)
    if as_json:
        show_json(
            {
                "local_epsilon": local,
                "crowd": users,
                "delta": delta,
                "central_epsilon": central,
                "central_epsilon_of_half_the_crowd": half,
                "mechanism": mechanism,
                "participations": participations,
                "central_epsilon_together": together,
            }
        )
        return
    alone = (at_least if epsilon is None else at_most)(local, 4)
    show_line(f"Each report by itself: ε₀ = {alone}, δ = 0, whoever looks.")
    lines = [
        (f"One of {users:,} that an honest relay mixes", central),
        ("If half of them are not from honest users", half),
    ]
    if participations > 1:
        lines.append((f"{participations} reports, each in such a crowd", together))
    for who, value in lines:
        show_line(f"{who}: ε = {at_most(value, 4)}, δ = {delta:g}.")


def _blankets(
    mechanism: str | None, sizes: dict[str, int | None]
) -> Callable[[float], list[Blanket]]:
    """Return the blankets at a local ε₀: those of the mechanism, or of any."""
    from ldprl.accounting.blanket import clones
    from ldprl.mechanisms.catalogue import build_mechanism

    if mechanism is None:
        for name, size in sizes.items():
            if size is not None:
                raise InputError(name, size, "no sizes without --mechanism")
        return lambda local: [clones(local)]
    shape = shape_from(sizes, "a size, with --mechanism")
    # δ is only looked at to refuse a mechanism that needs one.
    return lambda local: build_mechanism(mechanism, shape, local, 1e-3).blankets()
