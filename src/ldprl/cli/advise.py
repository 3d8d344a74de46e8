"""``ldprl advise``: forecast the cost of ε, and recommend a mechanism and a learner."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldprl.cli import options
from ldprl.cli.options import refuse_beside, shape_from, usual_delta, warn_of_delta
from ldprl.cli.show import show_json
from ldprl.errors import InputError, probability

if TYPE_CHECKING:
    from ldprl.advice import Advice, Returning
    from ldprl.advice.relayed import Relayed
    from ldprl.shape import Shape
    from ldprl.worlds.tabular import TabularMDP

_STOPPED = 130
"""The exit code of an answer that Ctrl-C cut short."""


def advise(
    users: Annotated[
        int | None,
        options.whole(
            "N", "Users, such as 1e6. \\[default: the least number that is enough at --epsilon]"
        ),
    ] = None,
    states: Annotated[int | None, options.STATES] = None,
    actions: Annotated[int | None, options.ACTIONS] = None,
    horizon: Annotated[int | None, options.HORIZON] = None,
    mdp: Annotated[
        str | None,
        options.text(
            "WORLD",
            "Advise on this MDP instead of plausible ones: FILE.json, random:S,A,H,SEED,"
            " riverswim:S,H, …; then S, A and H can be left out.",
        ),
    ] = None,
    env: Annotated[
        str | None,
        options.text(
            "ENV",
            "Advise on a policy for what has no model: see `ldprl regret --help`. --horizon is then"
            " where episodes are cut.",
        ),
    ] = None,
    policy: options.PolicyKind = None,
    hidden: options.Hidden = None,
    return_range: options.ReturnRange = None,
    scale: options.Scale = None,
    start: options.Start = None,
    epsilon: Annotated[
        float | None, options.real("E", "ε of a report. \\[default: the least that is enough]")
    ] = None,
    target_loss: Annotated[
        float, options.real("L", "Policy loss to reach: 0 is best, 1 acting at random.")
    ] = 0.1,
    reports_per_user: Annotated[int, options.whole("N", "Reports that each user sends.")] = 1,
    total_epsilon: Annotated[
        float | None, options.real("E", "Instead of --epsilon: ε of all reports of a user.")
    ] = None,
    total_delta: Annotated[
        float, options.real("D", "δ at which the reports of a user are added up.")
    ] = 0,
    incumbent: Annotated[
        str | None,
        options.text(
            "L|FILE.json",
            "What is in use today: its policy loss, or with --mdp its actions in all states, once"
            " or for each step. Say from how many users on learning is better.",
        ),
    ] = None,
    arrivals_per_day: options.ArrivalsPerDay = None,
    episode_days: options.EpisodeDays = None,
    shuffle: Annotated[
        int | None, options.whole("N", "Compare with a relay that mixes N reports.", at_least=2)
    ] = None,
    central_delta: Annotated[
        float | None, options.real("D", "With --shuffle: the central δ. \\[default: 1e-8]")
    ] = None,
    learner: Annotated[
        str | None, options.learner("Advise on this learner alone, by name or module:Class.")
    ] = None,
    mechanism: Annotated[
        str | None,
        options.mechanism("Advise on this mechanism alone, by name or module:Class."),
    ] = None,
    delta: Annotated[
        float | None,
        options.real(
            "D", "δ of the Gaussian mechanism; all others have δ = 0. \\[default: 0.1/users]"
        ),
    ] = None,
    runs: Annotated[
        int | None,
        options.whole(
            "N",
            "Runs of the recommended pair, each in another MDP unless --mdp is given."
            " \\[default: 30; with --env 5]",
            at_most=10**3,
        ),
    ] = None,
    seed: Annotated[int, options.seed("The same seed gives the same advice.")] = 0,
    workers: options.Workers = None,
    plot: Annotated[Path | None, options.picture("Draw the forecasts into this file.")] = None,
    as_json: options.Json = False,
) -> None:
    """Advise on ε, mechanism and learner, by simulating what each would cost.

    Give --users or --epsilon, and the other is searched for; give both, and the policy loss is
    forecast. The answer comes first, then what would change it, then the forecasts.
    Forecasts hold for the simulated MDPs: give your own with --mdp where you can. With --env the
    formula comes first, then what a simulation finds.
    The usual pair is simulated first, then the others: what is found so far is said on stderr, and
    Ctrl-C ends with it (exit code 130).
    """
    not_in_env: dict[str, object] = {
        "mdp": mdp,
        "states": states,
        "actions": actions,
        "reports_per_user": None if reports_per_user == 1 else reports_per_user,
        "total_epsilon": total_epsilon,
        "total_delta": total_delta or None,
        "incumbent": incumbent,
        "arrivals_per_day": arrivals_per_day,
        "episode_days": episode_days,
        "shuffle": shuffle,
        "central_delta": central_delta,
        "mechanism": mechanism,
        "delta": delta,
        "plot": plot,
    }
    in_env: dict[str, object] = {
        "policy": policy,
        "hidden": hidden,
        "return_range": return_range,
        "scale": scale,
        "start": start,
    }
    refuse_beside("--env" if env else "tables", not_in_env if env else in_env)
    if env is not None:
        from ldprl.cli.advise_env import advise_in_env

        return advise_in_env(
            env,
            policy=policy,
            hidden=hidden,
            horizon=horizon,
            return_range=return_range,
            scale=scale,
            start=start,
            epsilon=epsilon,
            users=users,
            target_loss=target_loss,
            runs=runs or 5,
            seed=seed,
            workers=workers,
            learner=learner or "ldp-es",
            as_json=as_json,
        )
    from ldprl.advice import advise as ask
    from ldprl.advice.adviser import incumbent_loss
    from ldprl.advice.pairs import compared, pair_of
    from ldprl.advice.relayed import with_relay
    from ldprl.cli.advise_show import record, show
    from ldprl.shape import Shape

    problem = _problem(mdp, {"states": states, "actions": actions, "horizon": horizon})
    shape = problem if isinstance(problem, Shape) else problem.shape
    returning = _returning(reports_per_user, total_delta)
    calendar = options.calendar_from(arrivals_per_day, episode_days)
    if total_epsilon is not None:
        if epsilon is not None:
            raise InputError("total_epsilon", total_epsilon, "either this or --epsilon")
        epsilon = returning.each(total_epsilon)
    noise = usual_delta(users or 10**9) if delta is None else delta
    today = None if incumbent is None else incumbent_loss(incumbent, problem)
    if shuffle is not None and users is not None and shuffle > users * returning.reports:
        raise InputError("shuffle", shuffle, "at most the number of reports")
    central = _central_delta(central_delta, shuffle)
    chosen = learner is not None or mechanism is not None
    known = (shape, epsilon, users)
    pairs = (pair_of(learner, mechanism, *known),) if chosen else compared(*known)
    if delta is not None and all(pair.pure for pair in pairs):
        raise InputError("delta", delta, "none, as all mechanisms that are compared have δ = 0")
    common: dict[str, Any] = {
        "pairs": pairs,
        "seed": seed,
        "calendar": calendar,
        "workers": workers or os.cpu_count() or 1,
    }
    search = partial(
        ask,
        problem,
        users,
        epsilon=epsilon,
        target_loss=target_loss,
        delta=noise,
        returning=returning,
        runs=runs or 30,
        **common,
    )
    mix = None
    if shuffle is not None:
        mix = partial(with_relay, problem, crowd=shuffle, delta=central, **common)
    found, relayed, complete = _simulated(search, mix)
    if plot is not None:
        _draw(found, plot)
    if not all(pair.pure for pair in pairs):
        warn_of_delta(noise, found.users)
    world = None if isinstance(problem, Shape) else problem
    if as_json:
        show_json(record(found, today, relayed, world))
    else:
        show(found, today, relayed, world)
    if not complete:
        raise typer.Exit(_STOPPED)


def _simulated(
    search: Callable[..., Advice], mix: Callable[..., Relayed] | None
) -> tuple[Advice, Relayed | None, bool]:
    """Return the answer, that behind a relay, and whether both are complete: Ctrl-C ends early."""
    from ldprl.advice.words import recommendation
    from ldprl.cli.progress import counted_bar
    from ldprl.experiments.cells import StoppedError

    answers: list[Advice] = []

    def so_far(answer: Advice) -> None:
        answers.append(answer)
        simulated = sum(len(one.losses) for one in answer.near)
        said = f"so far, by {simulated} simulations: {recommendation(answer)}"
        print(said, file=sys.stderr, flush=True)

    try:
        with counted_bar("simulations", uneven=True) as progress:
            answers.append(search(progress=progress, so_far=so_far))
            relayed = None if mix is None else mix(advice=answers[-1], progress=progress)
    except KeyboardInterrupt:
        if not answers:
            raise
        print("stopped: this is what the simulations so far say", file=sys.stderr)
        return answers[-1], None, False
    except (StoppedError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    return answers[-1], relayed, True


def _draw(found: Advice, picture: Path) -> None:
    from ldprl.advice.plot import plot_advice

    try:
        plot_advice(found).savefig(picture, dpi=150, metadata={"Software": None})
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None


def _returning(reports: int, total_delta: float) -> Returning:
    from ldprl.advice import Returning

    if total_delta and reports == 1:
        expected = "none with one report of each user, or --reports-per-user beside it"
        raise InputError("total_delta", total_delta, expected)
    return Returning(reports, total_delta)


def _central_delta(given: float | None, shuffle: int | None) -> float:
    if given is None:
        return 1e-8
    if shuffle is None:
        raise InputError("central_delta", given, "a --shuffle beside it")
    return probability("central_delta", given, zero=False)


def _problem(world: str | None, sizes: dict[str, int | None]) -> Shape | TabularMDP:
    if world is None:
        return shape_from(sizes, "a whole number, or an MDP with --mdp")
    from ldprl.worlds.specification import mdp_from

    mdp = mdp_from(world)
    for name, size in sizes.items():
        if size not in (None, own := getattr(mdp.shape, name)):
            raise InputError(name, size, f"{own}, as in the given --mdp")
    return mdp
