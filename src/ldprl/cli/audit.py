"""``ldprl audit``: attack a mechanism, and compare what the attack proves with its claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ldprl.cli import options
from ldprl.cli.names import private_mechanisms
from ldprl.cli.options import shape_from
from ldprl.cli.show import show_json, show_line, show_table
from ldprl.errors import InputError, probability
from ldprl.rounding import at_least, at_most

if TYPE_CHECKING:
    from ldprl.mechanisms.mechanism import Constants
    from ldprl.shape import Shape


def audit(
    mechanism: Annotated[
        str | None, options.mechanism("What to attack; see `ldprl list mechanisms`.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Attack every mechanism.")] = False,
    states: Annotated[int, options.STATES] = 2,
    actions: Annotated[int, options.ACTIONS] = 2,
    horizon: Annotated[int, options.HORIZON] = 2,
    epsilon: Annotated[float, options.real("E", "ε > 0 claimed for the whole trajectory.")] = 1,
    delta: options.Delta = 0,
    constants: options.ConstantsName = "sound",
    samples: Annotated[
        int | None,
        options.whole(
            "N",
            "Reports of each of two users to measure, after as many to plan."
            " \\[default: 1e5, fewer if they are long]",
            at_most=10**8,
        ),
    ] = None,
    attack: Annotated[
        str | None,
        options.text(
            "NAME", "likelihood, classifier, counters or floating-point. \\[default: the best]"
        ),
    ] = None,
    crowd: Annotated[
        int | None,
        options.whole(
            "N", "Attack shuffled batches of --samples times N reports instead.", 1, 10**6
        ),
    ] = None,
    present: Annotated[
        int | None,
        options.whole("N", "How many are really in a batch. \\[default: the crowd]", 1, 10**6),
    ] = None,
    seed: Annotated[int, options.seed("The same seed gives the same audit.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Attack a mechanism and say what that proves about its (ε, δ).

    Two users whose trajectories differ as much as possible report repeatedly; an attacker who
    knows both trajectories tries to distinguish the reports. What it states
    holds with probability 1 − 10⁻⁶. The exit code is 1 if a claim is violated.
    """
    from ldprl.mechanisms.catalogue import check_level

    if every == (mechanism is not None):
        raise InputError("mechanism", mechanism, "either a name or --all")
    probability("delta", delta, zero=True)
    if mechanism is not None:
        check_level(mechanism, epsilon, delta)
    shape = shape_from({"states": states, "actions": actions, "horizon": horizon}, "a size")
    if crowd is not None or present is not None:
        for name, value, usual in (("constants", constants, "sound"), ("attack", attack, None)):
            if value != usual:
                raise InputError(name, value, "no such option with --crowd")
        _audit_crowd(mechanism, shape, epsilon, crowd, present, samples or 10**5, seed, as_json)
        return
    kind = cast("Constants", constants)
    names = [mechanism] if mechanism is not None else private_mechanisms(constants, delta)
    found = [_audit(name, shape, epsilon, delta, kind, samples, seed, attack) for name in names]
    if as_json:
        show_json(found if every else found[0])
    else:
        _show(found, shape, constants)
    if any(row["verdict"] == "violated" for row in found):
        raise typer.Exit(1)


def _audit_crowd(
    name: str | None,
    shape: Shape,
    epsilon: float,
    crowd: int | None,
    present: int | None,
    batches: int,
    seed: int,
    as_json: bool,
) -> None:
    from dataclasses import asdict

    from ldprl.audit import audit_crowd
    from ldprl.mechanisms.catalogue import build_mechanism, problem_for

    if name is None or crowd is None:
        raise InputError("crowd", crowd, "a crowd of one --mechanism")
    if batches > 10**7:
        raise InputError("samples", batches, "at most 1e7 with --crowd")
    built = build_mechanism(name, problem_for(name, shape), epsilon, 0.0)
    result = audit_crowd(built, crowd, present=present, batches=batches, seed=seed)
    if as_json:
        show_json({"mechanism": name, **asdict(result)})
    else:
        show_line(
            f"A crowd of {crowd:,} promises δ ≤ {at_most(result.claimed_delta, 4)} at ε ="
            f" {result.epsilon:.3g}; {result.batches:,} batches of either victim prove"
            f" δ ≥ {at_least(result.empirical_delta_lower, 4)}: {result.verdict}."
        )
    if result.verdict == "violated":
        raise typer.Exit(1)


def _audit(
    name: str,
    shape: Shape,
    epsilon: float,
    delta: float,
    constants: Constants,
    samples: int | None,
    seed: int,
    attack: str | None,
) -> dict[str, Any]:
    from dataclasses import asdict

    from ldprl.audit import audit as attack_mechanism
    from ldprl.cli.progress import counted_bar
    from ldprl.mechanisms.catalogue import build_mechanism, problem_for
    from ldprl.shape import Shape

    if name == "none":
        raise InputError("mechanism", name, "a private mechanism: none claims nothing")
    problem = problem_for(name, shape)
    mechanism = build_mechanism(name, problem, epsilon, delta, constants=constants)
    # What is claimed is what the sound constants give, for a problem of any size.
    smallest = problem_for(name, Shape(1, 1, 1))
    claimed = build_mechanism(name, smallest, epsilon, delta).guarantee
    with counted_bar(f"reports of {name}") as progress:
        result = attack_mechanism(mechanism, claimed, samples, seed, attack, progress)
    return {
        "mechanism": name,
        "constants": constants,
        **asdict(result),
        "strength": result.strength,
    }


def _show(found: list[dict[str, Any]], shape: Shape, constants: str) -> None:
    sizes = f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"
    rows = [
        (
            row["mechanism"],
            f"{row['claimed']['delta']:g}",
            at_most(row["exact_delta"]),
            at_least(row["empirical_epsilon_lower"]),
            f"{row['best_epsilon_lower']:.3g}",
            at_least(row["empirical_delta_lower"]),
            row["verdict"],
        )
        for row in found
    ]
    heads = ("mechanism", "δ", "exact δ", "ε ≥", "best", "δ ≥", "verdict")
    title = f"Audit of ε = {found[0]['claimed']['epsilon']:g}, {constants} constants: {sizes}"
    show_table(title, heads, rows, right=heads[1:6])
    for row in found:
        show_line(f"{row['mechanism']}, attack {row['attack']}: {row['strength']}.")
    least, most = (bound(row["samples"] for row in found) for bound in (min, max))
    samples = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    show_line(
        f"{samples} reports of each user, confidence 1 − 10⁻⁶. δ is claimed, exact δ"
        " computed; best is what the best threshold of a likelihood ratio can expect to prove."
    )
