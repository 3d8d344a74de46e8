"""``ldprl amplify``: what a crowd that a relay mixes adds to each report's own privacy."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli.completion import mechanism_names
from ldprl.cli.numbers import count, decimal, warn_of_delta
from ldprl.cli.options import ACTIONS, HORIZON, STATES, Json
from ldprl.cli.pictures import check_picture
from ldprl.cli.show import show_json, show_line
from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.accounting.blanket import Blanket

_SIZES = ("states", "actions", "horizon")


def amplify(
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Local ε₀ > 0 of one report.")
    ] = None,
    central_epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="ε > 0 that a report has in the crowd.")
    ] = None,
    crowd: Annotated[
        str | None, typer.Option(metavar="N", help="Reports that are mixed; 1e5 is a number too.")
    ] = None,
    delta: Annotated[str, typer.Option(metavar="D", help="δ in (0, 1) in the crowd.")] = "1e-8",
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Use what is known of this mechanism; needs the three sizes. \\[default: any]",
            autocompletion=mechanism_names,
        ),
    ] = None,
    states: Annotated[str | None, STATES] = None,
    actions: Annotated[str | None, ACTIONS] = None,
    horizon: Annotated[str | None, HORIZON] = None,
    participations: Annotated[
        str, typer.Option(metavar="N", help="Also say what a user who takes part so often has.")
    ] = "1",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw central ε by crowd into FILE.png, .svg or .pdf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute what shuffling adds: central (ε, δ) of a crowd of reports, each ε₀ by itself.

    Of --epsilon, --crowd and --central-epsilon give two; the third is computed, and errs to the
    safe side. It holds against whoever sees the reports without knowing who sent which. The ε₀ of
    each report holds in any case.
    """
    from dataclasses import replace

    from ldprl.accounting import shuffling
    from ldprl.accounting.composition import composed_epsilon
    from ldprl.errors import positive, probability

    check_picture("out", out)
    level = probability("delta", decimal("delta", delta), zero=False)
    blankets = _blankets(mechanism, {"states": states, "actions": actions, "horizon": horizon})
    given = (epsilon, central_epsilon, crowd)
    if sum(option is not None for option in given) != 2:
        names = "exactly two of --epsilon, --central-epsilon and --crowd"
        raise InputError("epsilon", epsilon, names)
    users = 0 if crowd is None else count("crowd", crowd, at_most=shuffling.MOST_USERS)
    local = 0.0 if epsilon is None else positive("epsilon", decimal("epsilon", epsilon))
    central = 0.0
    if central_epsilon is not None:
        central = positive("central_epsilon", decimal("central_epsilon", central_epsilon))
    times = count("participations", participations, at_most=10**4)
    if epsilon is None:
        local = shuffling.largest_local_epsilon(users, central, level, blankets)
    elif crowd is None:
        users = shuffling.smallest_crowd(blankets(local), central, level)
    built = blankets(local)
    if central_epsilon is None:
        central = shuffling.central_epsilon(built, users, level)
    half = shuffling.central_epsilon(built, max(1, users // 2), level)
    warn_of_delta(level, users)
    together = central
    if times > 1:
        pair = shuffling.crowd_pair(built, users)
        together = composed_epsilon([replace(pair, copies=times)], level)
    if out is not None:
        from ldprl.figures.crowd_plot import plot_crowds

        plot_crowds(built, local, users, level, mechanism or "any mechanism").savefig(out, dpi=160)
    if as_json:
        show_json(
            {
                "local_epsilon": local,
                "crowd": users,
                "delta": level,
                "central_epsilon": central,
                "central_epsilon_of_half_the_crowd": half,
                "mechanism": mechanism,
                "participations": times,
                "central_epsilon_together": together,
            }
        )
        return
    alone = rounded(local, ROUND_FLOOR if epsilon is None else ROUND_CEILING)
    show_line(f"Each report by itself: ε₀ = {alone}, δ = 0, whoever looks.")
    for who, value in (
        (f"One of {users:,} that an honest relay mixes", central),
        ("If half of them are not from honest users", half),
        *([(f"{times} reports, each in such a crowd", together)] if times > 1 else []),
    ):
        show_line(f"{who}: ε = {rounded(value, ROUND_CEILING)}, δ = {level:g}.")


def rounded(value: float, how: str) -> str:
    """Write ``value`` with four significant digits, rounded to the safe side."""
    exact = Decimal(repr(value))
    if not exact.is_finite():
        return "∞"
    digits = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), rounding=how)
    return format(digits.normalize(), "f")


def _blankets(
    mechanism: str | None, sizes: dict[str, str | None]
) -> Callable[[float], list[Blanket]]:
    """Return what reports hide behind at a local ε₀: the mechanism's own, or any one's."""
    from ldprl.accounting.blanket import clones
    from ldprl.mechanisms.catalogue import build_mechanism
    from ldprl.shape import Shape

    if mechanism is None:
        for name, size in sizes.items():
            if size is not None:
                raise InputError(name, size, "no sizes without --mechanism")
        return lambda local: [clones(local)]
    for name, size in sizes.items():
        if size is None:
            raise InputError(name, size, "a size, with --mechanism")
    states, actions, horizon = (count(name, sizes[name] or "", at_most=10**3) for name in _SIZES)
    shape = Shape(states, actions, horizon)
    # δ is only looked at to refuse a mechanism that needs one.
    return lambda local: build_mechanism(mechanism, shape, local, 1e-3).blankets()
