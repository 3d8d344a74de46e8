"""``ldprl profile``: δ as a function of ε for every mechanism, as a table and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from ldprl.cli import options
from ldprl.cli.names import private_mechanisms
from ldprl.cli.numbers import shape_from
from ldprl.cli.show import show_json, show_table
from ldprl.errors import InputError, positive, probability, whole_number
from ldprl.rounding import at_most

if TYPE_CHECKING:
    from ldprl.mechanisms.mechanism import Constants

_SHARES = (0.25, 0.5, 0.75, 1.0, 1.25)


def profile(
    epsilon: Annotated[
        float, options.real("E", "ε > 0 that every mechanism is built for.", positive)
    ],
    states: Annotated[int, options.STATES] = 2,
    actions: Annotated[int, options.ACTIONS] = 2,
    horizon: Annotated[int, options.HORIZON] = 2,
    mechanism: Annotated[
        str | None,
        options.mechanism("This mechanism alone, by name or module:Class. \\[default: every one]"),
    ] = None,
    delta: options.Delta = 0,
    constants: options.ConstantsName = "sound",
    out: Annotated[
        Path | None, options.picture("Draw the curves into FILE.png, .svg or .pdf.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compute the exact privacy of mechanisms as built: δ at each ε.

    Each δ is proven not to be too small; the gap says by how much it can be too large.
    """
    from ldprl.mechanisms.catalogue import build_mechanism, check_level

    probability("delta", delta, zero=True)
    shape = shape_from({"states": states, "actions": actions, "horizon": horizon}, "a size", 10**5)
    whole_number("horizon", horizon, 1, 10**3)
    kind = cast("Constants", constants)
    if mechanism is not None:
        check_level(mechanism, epsilon, delta)
    names = private_mechanisms(constants, delta) if mechanism is None else [mechanism]
    built = {name: build_mechanism(name, shape, epsilon, delta, constants=kind) for name in names}
    for name, one in built.items():
        if not one.private:
            raise InputError("mechanism", name, "a private mechanism: this one claims nothing")
    profiles = {name: one.privacy_profile() for name, one in built.items()}
    if out is not None:
        from ldprl.figures.privacy_plots import plot_profiles

        sizes = f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"
        plot_profiles(profiles, epsilon, f"{constants} constants, {sizes}").savefig(out, dpi=160)
    points = [share * epsilon for share in _SHARES]
    deltas = {name: [one.delta(point) for point in points] for name, one in profiles.items()}
    gaps = {name: [one.gap(point) for point in points] for name, one in profiles.items()}
    if as_json:
        columns = ("mechanism", "epsilon", "delta", "gap")
        rows = [(name, points, deltas[name], gaps[name]) for name in profiles]
        show_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    heads = ("mechanism", *(f"δ({point:g})" for point in points), "gap ≤")
    table = [(name, *map(at_most, deltas[name]), at_most(max(gaps[name]), 1)) for name in profiles]
    show_table(f"Privacy profiles, {constants} constants", heads, table, right=heads[1:])
