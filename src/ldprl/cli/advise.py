"""``ldprl advise``: forecast the cost of ε, and recommend a mechanism and a learner."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli.completion import learner_names, mechanism_names
from ldprl.cli.numbers import count, decimal, usual_delta, warn_of_delta
from ldprl.cli.options import ACTIONS, HORIZON, STATES, Json
from ldprl.cli.pictures import check_picture
from ldprl.cli.show import show_json
from ldprl.errors import InputError, probability

if TYPE_CHECKING:
    from ldprl.mdp.tabular import TabularMDP
    from ldprl.shape import Shape


def advise(
    users: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Users, such as 1e6. \\[default: the least number that is enough at --epsilon]",
        ),
    ] = None,
    states: Annotated[str | None, STATES] = None,
    actions: Annotated[str | None, ACTIONS] = None,
    horizon: Annotated[str | None, HORIZON] = None,
    mdp: Annotated[
        str | None,
        typer.Option(
            metavar="WORLD",
            help="Advise on this MDP instead of plausible ones: FILE.json, random:S,A,H,SEED,"
            " riverswim:S,H, …; then S, A and H can be left out.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="E", help="ε of a report. \\[default: the least that is enough]"),
    ] = None,
    target_loss: Annotated[
        str,
        typer.Option(metavar="L", help="Policy loss to reach: 0 is best, 1 acting at random."),
    ] = "0.1",
    reports_per_user: Annotated[
        str, typer.Option(metavar="N", help="Reports that each user sends.")
    ] = "1",
    total_epsilon: Annotated[
        str | None,
        typer.Option(metavar="E", help="Instead of --epsilon: ε of all reports of a user."),
    ] = None,
    total_delta: Annotated[
        str,
        typer.Option(metavar="D", help="δ at which the reports of a user are added up."),
    ] = "0",
    incumbent: Annotated[
        str | None,
        typer.Option(
            metavar="L|FILE.json",
            help="What is in use today: its policy loss, or with --mdp its (H, S) table of"
            " actions. Say from how many users on learning is better.",
        ),
    ] = None,
    shuffle: Annotated[
        str | None,
        typer.Option(metavar="N", help="Compare with a relay that mixes N reports."),
    ] = None,
    central_delta: Annotated[
        str, typer.Option(metavar="D", help="With --shuffle: the central δ.")
    ] = "1e-8",
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Advise on this learner alone, by name or module:Class.",
            autocompletion=learner_names,
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Advise on this mechanism alone, by name or module:Class.",
            autocompletion=mechanism_names,
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="δ of the Gaussian mechanism; all others have δ = 0. \\[default: 0.1/users]",
        ),
    ] = None,
    runs: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Runs of the recommended pair, each in another MDP unless --mdp is given.",
        ),
    ] = "30",
    seed: Annotated[str, typer.Option(metavar="I", help="The same seed, the same advice.")] = "0",
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="Processes. \\[default: one for each core]")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the forecasts into this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Advise on ε, mechanism and learner, by simulating what each would cost.

    Of --users and --epsilon give one, and the other is searched for; give both, and the policy
    loss is forecast. The answer comes first, then what would change it, then the forecasts.
    Forecasts hold for the simulated MDPs: give your own with --mdp where you can.
    """
    from ldprl.advice import Returning
    from ldprl.advice import advise as ask
    from ldprl.advice.incumbent import incumbent_loss
    from ldprl.advice.pairs import compared, pair_of
    from ldprl.cli.advise_show import record, show
    from ldprl.cli.progress import counted_bar
    from ldprl.experiments.cells import StoppedError
    from ldprl.shape import Shape

    check_picture("plot", plot)
    problem = _problem(mdp, {"states": states, "actions": actions, "horizon": horizon})
    shape = problem if isinstance(problem, Shape) else problem.shape
    processes = os.cpu_count() or 1 if workers is None else count("workers", workers, at_most=10**4)
    first = count("seed", seed, at_least=0, at_most=2**63)
    returning = Returning(
        count("reports_per_user", reports_per_user), decimal("total_delta", total_delta)
    )
    people = None if users is None else count("users", users)
    level = None if epsilon is None else decimal("epsilon", epsilon)
    if total_epsilon is not None:
        if level is not None:
            raise InputError("total_epsilon", total_epsilon, "either this or --epsilon")
        level = returning.each(decimal("total_epsilon", total_epsilon))
    noise = usual_delta(people or 10**9) if delta is None else decimal("delta", delta)
    today = None if incumbent is None else incumbent_loss(incumbent, problem)
    mixed = None if shuffle is None else count("shuffle", shuffle, at_least=2)
    if mixed is not None and people is not None and mixed > people * returning.reports:
        raise InputError("shuffle", mixed, "at most the number of reports")
    central = probability("central_delta", decimal("central_delta", central_delta), zero=False)
    chosen = learner is not None or mechanism is not None
    pairs = (pair_of(learner, mechanism, shape),) if chosen else compared(shape)
    try:
        with counted_bar("simulations") as progress:
            found = ask(
                problem,
                people,
                epsilon=level,
                target_loss=decimal("target_loss", target_loss),
                delta=noise,
                returning=returning,
                pairs=pairs,
                runs=count("runs", runs, at_most=10**3),
                seed=first,
                workers=processes,
                progress=progress,
            )
            relayed = None
            if mixed is not None:
                from ldprl.advice.relayed import with_relay

                relayed = with_relay(
                    problem,
                    found,
                    mixed,
                    central,
                    pairs=pairs,
                    seed=first,
                    workers=processes,
                    progress=progress,
                )
        if plot is not None:
            from ldprl.advice.plot import plot_advice

            plot_advice(found).savefig(plot, dpi=150, metadata={"Software": None})
    except (StoppedError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    if not all(pair.pure for pair in pairs):
        warn_of_delta(noise, found.users)
    world = None if isinstance(problem, Shape) else problem
    if as_json:
        show_json(record(found, today, relayed, world))
    else:
        show(found, today, relayed, world)


def _problem(world: str | None, sizes: dict[str, str | None]) -> Shape | TabularMDP:
    from ldprl.shape import Shape

    given = {
        name: count(name, text, at_most=10**3) for name, text in sizes.items() if text is not None
    }
    if world is None:
        for name in sizes:
            if name not in given:
                raise InputError(name, None, "a whole number, or an MDP with --mdp")
        return Shape(given["states"], given["actions"], given["horizon"])
    from ldprl.mdp.specification import mdp_from

    mdp = mdp_from(world)
    for name, size in given.items():
        if size != getattr(mdp.shape, name):
            raise InputError(name, size, f"{getattr(mdp.shape, name)}, as in the given --mdp")
    return mdp
