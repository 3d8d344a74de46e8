"""``ldprl profile``: δ as a function of ε for every mechanism, as a table and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ldprl.cli.completion import mechanism_names
from ldprl.cli.names import private_mechanisms
from ldprl.cli.numbers import count, decimal
from ldprl.cli.options import ACTIONS, HORIZON, STATES, ConstantsName, Delta, Json
from ldprl.cli.pictures import check_picture
from ldprl.cli.show import show_json, show_table

if TYPE_CHECKING:
    from ldprl.mechanisms.mechanism import Constants

_SHARES = (0.25, 0.5, 0.75, 1.0, 1.25)


def profile(
    epsilon: Annotated[
        str, typer.Option(metavar="E", help="ε > 0 that every mechanism is built for.")
    ],
    states: Annotated[str, STATES] = "2",
    actions: Annotated[str, ACTIONS] = "2",
    horizon: Annotated[str, HORIZON] = "2",
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="This mechanism alone, by name or module:Class. \\[default: every one]",
            autocompletion=mechanism_names,
        ),
    ] = None,
    delta: Delta = "0",
    constants: ConstantsName = "sound",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the curves into FILE.png, .svg or .pdf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the exact privacy of mechanisms as built: δ at each ε.

    Each δ is proven not to be too small; the gap says by how much it can be too large.
    """
    from ldprl.errors import InputError, positive, probability
    from ldprl.mechanisms.catalogue import build_mechanism
    from ldprl.shape import Shape

    check_picture("out", out)
    target = positive("epsilon", decimal("epsilon", epsilon))
    chance = probability("delta", decimal("delta", delta), zero=True)
    shape = Shape(
        count("states", states, at_most=10**5),
        count("actions", actions, at_most=10**5),
        count("horizon", horizon, at_most=10**3),
    )
    kind = cast("Constants", constants)
    names = private_mechanisms(constants, chance) if mechanism is None else [mechanism]
    built = {name: build_mechanism(name, shape, target, chance, constants=kind) for name in names}
    for name, one in built.items():
        if not one.private:
            raise InputError("mechanism", name, "a private mechanism: this one claims nothing")
    profiles = {name: one.privacy_profile() for name, one in built.items()}
    if out is not None:
        from ldprl.figures.profile_plot import plot_profiles

        sizes = f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"
        plot_profiles(profiles, target, f"{constants} constants, {sizes}").savefig(out, dpi=160)
    points = [share * target for share in _SHARES]
    deltas = {name: [one.delta(point) for point in points] for name, one in profiles.items()}
    gaps = {name: [one.gap(point) for point in points] for name, one in profiles.items()}
    if as_json:
        columns = ("mechanism", "epsilon", "delta", "gap")
        rows = [(name, points, deltas[name], gaps[name]) for name in profiles]
        show_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    heads = ("mechanism", *(f"δ({point:g})" for point in points), "gap ≤")
    table = [
        (name, *(f"{delta:.3g}" for delta in deltas[name]), f"{max(gaps[name]):.1g}")
        for name in profiles
    ]
    show_table(f"Privacy profiles, {constants} constants", heads, table, right=heads[1:])
