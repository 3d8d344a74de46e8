"""``ldprl advise``: forecast the cost of ε, and recommend a mechanism and a learner."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldprl.cli.numbers import count, decimal
from ldprl.cli.options import ACTIONS, HORIZON, STATES, Json
from ldprl.cli.pictures import check_picture
from ldprl.cli.show import number, show_json, show_line, show_table
from ldprl.errors import InputError, probability

if TYPE_CHECKING:
    from ldprl.advice import Advice, Pair
    from ldprl.advice.relayed import Relayed
    from ldprl.mdp.tabular import TabularMDP
    from ldprl.shape import Shape


def advise(
    users: Annotated[str, typer.Option(metavar="N", help="Users, one episode each, such as 1e6.")],
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
        typer.Option(metavar="E", help="Advise on this ε. \\[default: the least that is enough]"),
    ] = None,
    target_loss: Annotated[
        str,
        typer.Option(metavar="L", help="Policy loss to reach: 0 is best, 1 acting at random."),
    ] = "0.1",
    delta: Annotated[
        str, typer.Option(metavar="D", help="δ of the Gaussian mechanism; all others have δ = 0.")
    ] = "1e-6",
    crowd: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="With --epsilon: compare with a relay that mixes N reports."
        ),
    ] = None,
    central_delta: Annotated[
        str, typer.Option(metavar="D", help="With --crowd: the central δ.")
    ] = "1e-8",
    runs: Annotated[
        str, typer.Option(metavar="N", help="Runs, each in another MDP unless --mdp is given.")
    ] = "3",
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

    For every pair: the policy loss after N users, the users that a target loss takes, the ε that N
    users need; then a recommendation, and what would change it. Forecasts hold for the simulated
    MDPs: give your own with --mdp where you can.
    """
    from ldprl.advice import advise as ask
    from ldprl.cli.progress import counted_bar
    from ldprl.experiments.cells import StoppedError

    check_picture("plot", plot)
    problem = _problem(mdp, {"states": states, "actions": actions, "horizon": horizon})
    processes = os.cpu_count() or 1 if workers is None else count("workers", workers, at_most=10**4)
    first = count("seed", seed, at_least=0, at_most=2**63)
    mixed = None if crowd is None else count("crowd", crowd)
    central = probability("central_delta", decimal("central_delta", central_delta), zero=False)
    try:
        with counted_bar("forecasts") as progress:
            found = ask(
                problem,
                count("users", users),
                epsilon=None if epsilon is None else decimal("epsilon", epsilon),
                target_loss=decimal("target_loss", target_loss),
                delta=decimal("delta", delta),
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
    if as_json:
        from ldprl.advice.record import as_dict

        show_json(as_dict(found) | ({} if relayed is None else {"relay": _relay(found, relayed)}))
    else:
        _show(found)
        if relayed is not None:
            _show_relay(found, relayed)


def _relay(advice: Advice, relayed: Relayed) -> dict[str, Any]:
    forecast = relayed.forecast
    return {
        "central_epsilon": advice.epsilon,
        "central_delta": relayed.delta,
        "crowd": relayed.crowd,
        "local_epsilon": relayed.local_epsilon,
        "learner": forecast.pair.learner,
        "mechanism": forecast.pair.mechanism,
        "loss": forecast.loss(advice.users),
        "loss_without": advice.chosen.loss(advice.users),
    }


def _show_relay(advice: Advice, relayed: Relayed) -> None:
    said = _relay(advice, relayed)
    show_line("\nWith a relay", style="bold")
    show_line(
        f"At central ε = {advice.epsilon:g} (δ = {relayed.delta:g}) with a relay that mixes"
        f" {relayed.crowd:,} reports: policy loss {said['loss']:.3g} after {advice.users:,} users,"
        f" {relayed.forecast.pair}, each report ε₀ = {relayed.local_epsilon:g} by itself. Without"
        f" one, at local ε = {advice.epsilon:g}: {said['loss_without']:.3g}, {advice.chosen.pair}."
    )


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


def _show(advice: Advice) -> None:
    from ldprl.advice.words import DEFINITION, changes, method, recommendation
    from ldprl.catalogue import LEARNERS

    shape = advice.shape
    sizes = f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"
    show = _show_levels if advice.epsilon is None else _show_one
    show(advice, f"Policy loss after {advice.users:,} users, {sizes}")
    show_line(f"{DEFINITION} {method(advice)}")
    show_line("\nWhat each learner promises", style="bold")
    for learner in dict.fromkeys(pair.learner for pair in advice.pairs):
        show_line(f"  {learner}: {LEARNERS.find(learner).promise}")
    show_line("\nRecommendation", style="bold")
    show_line(recommendation(advice))
    show_line("\nWhat would change it", style="bold")
    for line in changes(advice):
        show_line(f"  {line}")


def _show_one(advice: Advice, title: str) -> None:
    """Show the forecasts at the given ε, the best first."""
    from ldprl.advice.words import spread

    target = advice.target
    there = [one for one in advice.forecasts if one.epsilon == advice.epsilon]
    heads = ("learner, mechanism", "loss", "users", "ε")
    rows = [
        (
            _name(one.pair),
            spread(one, advice.users),
            _needed(one.users_needed(target), int(one.points[-1])),
            _level(advice, advice.epsilon_needed(one.pair)),
        )
        for one in sorted(there, key=lambda one: one.loss(advice.users))
    ]
    needed = f"the users and the ε that a loss of {target:g} needs"
    show_table(f"{title}, ε = {advice.epsilon:g}; {needed}", heads, rows, right=heads[1:])


def _show_levels(advice: Advice, title: str) -> None:
    """Show the mean loss at every ε, and which ε is enough."""
    heads = ("learner, mechanism", *(f"{level:g}" for level in advice.epsilons), "needed")
    rows = [
        (
            _name(pair),
            *(f"{one.loss(advice.users):.2f}" for one in advice.of(pair)),
            _level(advice, advice.epsilon_needed(pair)),
        )
        for pair in advice.pairs
    ]
    needed = f"and the ε that a loss of {advice.target:g} needs"
    show_table(f"{title}, by ε; {needed}", heads, rows, right=heads[1:])


def _name(pair: Pair) -> str:
    return f"{pair.learner}, {pair.mechanism}{'' if pair.pure else ' (ε, δ)'}"


def _level(advice: Advice, level: float) -> str:
    """Write the ε that is enough; beyond the simulated ones only a bound is known."""
    if math.isinf(level):
        return f"> {advice.epsilons[-1]:g}"
    return f"≤ {level:g}" if level == advice.epsilons[0] else f"{level:g}"


def _needed(users: float, most: int) -> str:
    return number(users) if math.isfinite(users) else f"> {number(most)}"
