"""``ldprl statement``: the privacy that a deployment promises, a crowd adds, a mechanism has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ldprl.cli import options
from ldprl.cli.group import subgroup
from ldprl.cli.names import private_mechanisms
from ldprl.cli.options import count, problem_of, refuse_beside, shape_from, warn_of_delta
from ldprl.cli.show import show_json, show_line, show_table
from ldprl.errors import InputError, one_of, positive, probability, whole_number
from ldprl.rounding import at_least, at_most

if TYPE_CHECKING:
    from ldprl.accounting.blanket import Blanket
    from ldprl.mechanisms.mechanism import Constants
    from ldprl.problem import Problem
    from ldprl.protocol.deployment import Deployment
    from ldprl.protocol.statement import PrivacyStatement

_SHARES = (0.25, 0.5, 0.75, 1.0, 1.25)
"""Where a profile is shown, as shares of the ε that the mechanism is built for."""
statements = subgroup()


@statements.callback(
    invoke_without_command=True,
    epilog="Example: **ldprl statement --mechanism laplace --states 6 --actions 2 --horizon 8"
    " --epsilon 1**",
)
def statement(
    context: typer.Context,
    mechanism: Annotated[
        str | None, options.mechanism("How users privatize; see `ldprl list mechanisms`.")
    ] = None,
    states: Annotated[int | None, options.STATES] = None,
    actions: Annotated[int | None, options.ACTIONS] = None,
    horizon: Annotated[int | None, options.HORIZON] = None,
    env: options.Env = None,
    policy: options.PolicyKind = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = 0,
    constants: options.ConstantsName = "sound",
    reports: Annotated[
        str | None,
        options.text(
            "N,…",
            "Say what a user who sends N reports has spent. \\[default: 2,10,100; in a notice as"
            " many as --budget admits]",
        ),
    ] = None,
    crowd: Annotated[
        int | None,
        options.whole(
            "N",
            "State also what a relay adds that mixes at least N reports; --delta is then the"
            " crowd's, 1e-8 unless given.",
            at_least=2,
        ),
    ] = None,
    deployment: Annotated[
        Path | None,
        options.text(
            "FILE",
            "State it for this deployment, in place of mechanism and sizes: with its relay, and"
            " what it says to be publicly known.",
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="statement|notice",
            help="notice: a draft of a privacy notice, in Markdown, of a --deployment.",
        ),
    ] = "statement",
    budget: Annotated[
        str | None,
        options.text("E[,D]", "In a notice: what all reports of a user may cost together."),
    ] = None,
    days: Annotated[
        float | None,
        options.real("N", "In a notice: the budget is for any N days, 365 for a year.", positive),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """State in plain words the privacy of users, as the code gives it.

    What one report gives away at most, what several do, what is public and what is not protected.
    """
    if context.invoked_subcommand is not None:
        return
    given = "2,10,100" if reports is None else reports
    times = [count("reports", number, 1, 10**4) for number in given.split(",")]
    _check_form(form, deployment, budget, days, as_json)
    sizes = {"states": states, "actions": actions, "horizon": horizon}
    if deployment is None:
        missing = "a value, or a --deployment or an --env that has it"
        problem = problem_of(env, policy, sizes, mechanism, missing)
        if env is not None:
            mechanism = problem.recommended(epsilon, "", mechanism or "")[1]
        if mechanism is None:
            raise InputError("mechanism", None, missing)
        kind = cast("Constants", constants)
        found = _of_mechanism(mechanism, problem, epsilon, delta, kind, crowd, times)
    else:
        others = sizes | {
            "mechanism": mechanism,
            "env": env,
            "policy": policy,
            "epsilon": epsilon,
            "crowd": crowd,
            "delta": delta or None,
            "constants": None if constants == "sound" else constants,
        }
        for name, value in others.items():
            if value is not None:
                raise InputError(name, value, "nothing: the deployment says it")
        from ldprl.service.settings import read_deployment

        if form == "notice":
            return _show_notice(deployment, None if reports is None else times, budget, days)
        found = _of_deployment(read_deployment(deployment), times)
    if as_json:
        show_json(found.to_dict())
    else:
        print(found.to_text(), end="")


def _of_mechanism(
    mechanism: str,
    problem: Problem,
    epsilon: float | None,
    delta: float,
    constants: Constants,
    crowd: int | None,
    times: list[int],
) -> PrivacyStatement:
    from ldprl.mechanisms.by_name import build_mechanism, check_level
    from ldprl.protocol.statement import USUAL_CROWD_DELTA, privacy_statement

    check_level(mechanism, epsilon, 0.0 if crowd is not None else delta)
    built = build_mechanism(mechanism, problem, epsilon, delta, constants=constants)
    return privacy_statement(built, times, crowd, delta or USUAL_CROWD_DELTA)


def _check_form(
    form: str, deployment: Path | None, budget: str | None, days: float | None, as_json: bool
) -> None:
    """Refuse what a notice cannot do, and what only a notice can."""
    if one_of("format", form, ("statement", "notice")) == "statement":
        return refuse_beside("--format statement", {"budget": budget, "days": days})
    if deployment is None:
        raise InputError("deployment", None, "the file of a deployment: a notice is about one")
    if as_json:
        raise InputError("json", True, "none with --format notice, which is text")


def _show_notice(
    file: Path, times: list[int] | None, budget: str | None, days: float | None
) -> None:
    from ldprl.accounting.composition import Budget
    from ldprl.protocol.notice import Taking, privacy_notice
    from ldprl.service.settings import read_deployment

    if times is not None and len(times) > 1:
        raise InputError("reports", times, "one number in a notice")
    most = None if budget is None else Budget(*budget.split(",", 1))
    taking = Taking(None if times is None else times[0], most, days)
    found = read_deployment(file)
    given = found.built.guarantee
    number = taking.most(Budget(given.epsilon, given.delta))
    print(privacy_notice(found, _of_deployment(found, [number]), taking), end="")


def _of_deployment(found: Deployment, times: list[int]) -> PrivacyStatement:
    from ldprl.protocol.statement import USUAL_CROWD_DELTA, privacy_statement
    from ldprl.protocol.structure_words import known_in_words

    crowd, delta, known = None, USUAL_CROWD_DELTA, list[str]()
    if (shuffle := found.shuffle) is not None:
        crowd, delta = shuffle.crowd, float(shuffle.delta)
    if found.structure is not None:
        labels = found.labels.document(found.problem)
        known = known_in_words(found.structure, labels["states"], labels["actions"])
    return privacy_statement(found.built, times, crowd, delta, known)


@statements.command(
    epilog="Example: **ldprl statement crowd --epsilon 6.7 --crowd 1e5 --delta 1e-8**"
)
def crowd(
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
    from ldprl.mechanisms.by_name import build_mechanism, problem_for

    if mechanism is None:
        for name, size in sizes.items():
            if size is not None:
                raise InputError(name, size, "no sizes without --mechanism")
        return lambda local: [clones(local)]
    shape = shape_from(sizes, "a size, with --mechanism")
    # δ is only looked at to refuse a mechanism that needs one.
    problem = problem_for(mechanism, shape)
    return lambda local: build_mechanism(mechanism, problem, local, 1e-3).blankets()


@statements.command(epilog="Example: **ldprl statement profile --epsilon 2 --delta 1e-6**")
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
    from ldprl.mechanisms.by_name import build_mechanism, check_level, problem_for

    probability("delta", delta, zero=True)
    shape = shape_from({"states": states, "actions": actions, "horizon": horizon}, "a size", 10**5)
    whole_number("horizon", horizon, 1, 10**3)
    kind = cast("Constants", constants)
    if mechanism is not None:
        check_level(mechanism, epsilon, delta)
    names = private_mechanisms(constants, delta) if mechanism is None else [mechanism]
    built = {
        name: build_mechanism(name, problem_for(name, shape), epsilon, delta, constants=kind)
        for name in names
    }
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
