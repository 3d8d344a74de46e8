"""``ldprl audit``: attack a mechanism, and compare what the attack proves with its claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ldprl.cli import options
from ldprl.cli.names import private_mechanisms
from ldprl.cli.options import problem_of, shape_from
from ldprl.cli.show import show_json, show_line, show_table
from ldprl.errors import InputError, probability
from ldprl.rounding import at_least, at_most

if TYPE_CHECKING:
    from ldprl.mechanisms.mechanism import Constants, Guarantee, Mechanism
    from ldprl.problem import Problem
    from ldprl.shape import Shape


def audit(
    mechanism: Annotated[
        str | None, options.mechanism("What to attack; see `ldprl list mechanisms`.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Attack every mechanism.")] = False,
    deployment: Annotated[
        Path | None,
        options.text("FILE", "Attack what the users of this deployment run, at its ε and δ."),
    ] = None,
    client: Annotated[
        str | None,
        options.text("COMMAND", "Attack what this program draws for --deployment; see `conform`."),
    ] = None,
    states: Annotated[int | None, options.STATES] = None,
    actions: Annotated[int | None, options.ACTIONS] = None,
    horizon: Annotated[int | None, options.HORIZON] = None,
    env: options.Env = None,
    policy: options.PolicyKind = None,
    epsilon: Annotated[
        float | None, options.real("E", "ε > 0 claimed for the whole trajectory. \\[default: 1]")
    ] = None,
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

    Sizes are 2 states, 2 actions and 2 steps, unless they are given. Two users whose trajectories
    differ as much as possible report repeatedly; an attacker who
    knows both trajectories tries to distinguish the reports. What it states
    holds with probability 1 − 10⁻⁶. The exit code is 1 if a claim is violated. The verdict is
    inconclusive if as few samples would not convict a mechanism that hides nothing.
    """
    from ldprl.mechanisms.by_name import check_level

    sizes = {"states": states, "actions": actions, "horizon": horizon}
    if deployment is not None:
        given = sizes | {"mechanism": mechanism, "env": env, "policy": policy, "epsilon": epsilon}
        given |= {"all": every or None, "delta": delta or None, "crowd": crowd}
        _refuse(given, "nothing: the deployment says it")
        _audit_deployment(deployment, client, samples, seed, attack, as_json)
        return
    _refuse({"client": client}, "none without --deployment, which says what it draws")
    epsilon = 1.0 if epsilon is None else epsilon
    if env is not None:
        if every or crowd is not None:
            raise InputError("env", env, "none with --all or --crowd")
        mechanism = mechanism or "threshold-bits"
    if every == (mechanism is not None):
        raise InputError("mechanism", mechanism, "either a name or --all")
    probability("delta", delta, zero=True)
    if mechanism is not None:
        check_level(mechanism, epsilon, delta)
    if env is None:
        sizes = {name: 2 if size is None else size for name, size in sizes.items()}
    if crowd is not None or present is not None:
        for name, value, usual in (("constants", constants, "sound"), ("attack", attack, None)):
            if value != usual:
                raise InputError(name, value, "no such option with --crowd")
        shape = shape_from(sizes, "a size")
        _audit_crowd(mechanism, shape, epsilon, crowd, present, samples or 10**5, seed, as_json)
        return
    kind = cast("Constants", constants)
    names = [mechanism] if mechanism is not None else private_mechanisms(constants, delta)
    found = []
    for name in names:
        problem = problem_of(env, policy, sizes, name, "a size")
        found.append(_audit(name, problem, epsilon, delta, kind, samples, seed, attack))
    words = problem.in_words if env is not None else shape_from(sizes, "a size").in_words
    _say(found, words, constants, as_json=as_json, several=every)


def _refuse(given: dict[str, Any], expected: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(name, value, expected)


def _audit_deployment(
    file: Path,
    client: str | None,
    samples: int | None,
    seed: int,
    attack: str | None,
    as_json: bool,
) -> None:
    from ldprl.service.settings import read_deployment

    found = read_deployment(file)
    built = found.built
    if client is None:
        row = _attacked(built, built.guarantee, samples, seed, attack)
    else:
        from ldprl.conformance.chance import shipped
        from ldprl.conformance.program import Program

        with Program(client) as program:
            shown = shipped(program, found)
            row = _attacked(shown, built.guarantee, samples, seed, attack)
    _say([row], found.problem.in_words, built.constants, as_json=as_json, several=False)


def _say(
    found: list[dict[str, Any]], sizes: str, constants: str, *, as_json: bool, several: bool
) -> None:
    if as_json:
        show_json(found if several else found[0])
    else:
        _show(found, sizes, constants)
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
    from ldprl.mechanisms.by_name import build_mechanism, problem_for

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
    problem: Problem,
    epsilon: float,
    delta: float,
    constants: Constants,
    samples: int | None,
    seed: int,
    attack: str | None,
) -> dict[str, Any]:
    from ldprl.mechanisms.by_name import build_mechanism, problem_for
    from ldprl.shape import Shape

    if name == "none":
        raise InputError("mechanism", name, "a private mechanism: none claims nothing")
    mechanism = build_mechanism(name, problem, epsilon, delta, constants=constants)
    # What is claimed is what the sound constants give, for a problem of any size.
    smallest = problem_for(name, Shape(1, 1, 1))
    claimed = build_mechanism(name, smallest, epsilon, delta).guarantee
    return _attacked(mechanism, claimed, samples, seed, attack)


def _attacked(
    mechanism: Mechanism, claimed: Guarantee, samples: int | None, seed: int, attack: str | None
) -> dict[str, Any]:
    from dataclasses import asdict

    from ldprl.audit import audit as attack_mechanism
    from ldprl.cli.progress import counted_bar

    with counted_bar(f"reports of {mechanism.name}") as progress:
        result = attack_mechanism(mechanism, claimed, samples, seed, attack, progress)
    return {
        "mechanism": mechanism.name,
        "constants": mechanism.constants,
        **asdict(result),
        "strength": result.strength,
    }


def _show(found: list[dict[str, Any]], sizes: str, constants: str) -> None:
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
