"""``ldprl regret``: simulate a learner with a mechanism in an MDP."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ldprl.cli import options
from ldprl.cli.options import check_used, refuse_beside, warn_of_delta, warn_of_unused
from ldprl.cli.show import number, show_json, show_line, show_table
from ldprl.errors import InputError, probability
from ldprl.rounding import at_least, at_most

if TYPE_CHECKING:
    from ldprl.arrivals import Calendar
    from ldprl.learning.learner import Learner
    from ldprl.learnt.share import Learnt
    from ldprl.mechanisms.mechanism import Constants, Mechanism
    from ldprl.simulation.engine import Simulation
    from ldprl.simulation.replan import Replan
    from ldprl.worlds.tabular import TabularMDP


def regret(
    episodes: options.Episodes,
    mdp: Annotated[
        str | None,
        options.text(
            "WORLD",
            "FILE.json, FILE.npz, random:S,A,H,SEED, riverswim:S,H, grid:ROWS,COLUMNS,H, "
            "hard-tree:S,A,H,K,EPSILON, gym:ENV,H, bandit:MEAN,MEAN,… or contexts:MEAN,…/MEAN,….",
        ),
    ] = None,
    env: Annotated[
        str | None,
        options.text(
            "ENV",
            "In place of --mdp, what has no model: an id of Gymnasium's such as CartPole-v1, "
            "glucose, module:factory, or contexts in a FILE.npz.",
        ),
    ] = None,
    learner: Annotated[
        str | None,
        options.learner(
            "The learner; see `ldprl list learners`. "
            "\\[default: the recommended one for these sizes and ε, or ldp-es]"
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        options.mechanism(
            "How users privatize; see `ldprl list mechanisms`. \\[default: the learner's usual one]"
        ),
    ] = None,
    constants: options.ConstantsName = "sound",
    epsilon: options.Epsilon = None,
    delta: options.Delta = 0,
    failure_probability: options.FailureProbability = None,
    alpha: options.Alpha = None,
    runs: Annotated[int, options.whole("N", "Independent runs.", at_most=10**6)] = 1,
    seed: options.Seed = 0,
    replan: Annotated[
        str | None,
        options.text(
            "each|growth:G",
            "Plan again after each user, or when their number has grown by the factor 1 + G. "
            "\\[default: growth:0.01]",
        ),
    ] = None,
    crowd: Annotated[
        int | None, options.whole("N", "Plan again after no fewer users: a relay mixes them.")
    ] = None,
    central_delta: Annotated[
        float | None,
        options.real("D", "With --crowd: δ at which central ε is computed. \\[default: 1e-8]"),
    ] = None,
    structure: Annotated[
        str | None,
        options.text(
            "FILE",
            "JSON of what is publicly known: admissible actions, successors, rewards, groups, "
            "an incumbent.",
        ),
    ] = None,
    memory: Annotated[
        int | None, options.whole("N", "Plan from the latest N users only, as in a changing world.")
    ] = None,
    arrivals_per_day: options.ArrivalsPerDay = None,
    episode_days: options.EpisodeDays = None,
    until_certified: Annotated[
        float | None,
        options.real(
            "GAP",
            "Stop as soon as users' own answers certify that a policy is within GAP of the "
            "best value that the learner still thinks possible.",
        ),
    ] = None,
    policy: options.PolicyKind = None,
    hidden: options.Hidden = None,
    horizon: Annotated[int | None, options.STEPS] = None,
    return_range: options.ReturnRange = None,
    scale: options.Scale = None,
    start: options.Start = None,
    workers: Annotated[
        int | None,
        options.whole(
            "N",
            "Threads, or processes for an ENV of Python's, that share the runs; the result does "
            "not depend on it.",
            at_most=10**4,
        ),
    ] = None,
    curves: Annotated[
        bool, typer.Option("--curves", help="With --json: the value at every checkpoint too.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Simulate users, a mechanism and a learner, and show the regret.

    In an MDP the simulation draws the sums of all users between two plans at once, exactly in
    distribution, so that 1e8 users take seconds. In an environment every user plays an episode.
    Ctrl-C leaves the answer so far.
    """
    for_mdp: dict[str, object] = {
        "mdp": mdp,
        "constants": None if constants == "sound" else constants,
        "delta": delta or None,
        "failure_probability": failure_probability,
        "alpha": alpha,
        "replan": replan,
        "crowd": crowd,
        "central_delta": central_delta,
        "structure": structure,
        "memory": memory,
        "arrivals_per_day": arrivals_per_day,
        "episode_days": episode_days,
        "until_certified": until_certified,
    }
    for_env: dict[str, object] = {
        "policy": policy,
        "hidden": hidden,
        "horizon": horizon,
        "return_range": return_range,
        "scale": scale,
        "start": start,
    }
    refuse_beside("--mdp" if env is None else "--env", for_env if env is None else for_mdp)
    if curves and not as_json:
        raise InputError("curves", curves, "--json beside it")
    if env is not None:
        from ldprl.cli.regret_env import regret_in_env

        return regret_in_env(
            env,
            policy=policy or "linear",
            hidden=hidden,
            horizon=horizon,
            return_range=return_range,
            scale=scale,
            start=start,
            users=episodes,
            runs=runs,
            seed=seed,
            epsilon=epsilon,
            mechanism=mechanism,
            learner=learner,
            workers=workers,
            as_json=as_json,
            curves=curves,
        )
    started = time.perf_counter()
    from ldprl.catalogue import LEARNERS, build, recommended_learner
    from ldprl.cli.progress import progress_bar, show_status
    from ldprl.learnt.share import learnt, nothing_learnt
    from ldprl.simulation.engine import simulate
    from ldprl.simulation.replan import AtLeast, Within, replan_from

    import_seconds = time.perf_counter() - started
    if learner is not None:
        LEARNERS.find(learner)
    if central_delta is not None:
        _check_central(central_delta, crowd, until_certified)
    rule = replan_from(replan or "growth:0.01")
    if crowd is not None:
        rule = AtLeast(rule, crowd)
    calendar = options.calendar_from(arrivals_per_day, episode_days)
    world = _world(mdp, structure)
    if learner is None:
        # The paper's learner works with every mechanism of the paper.
        known = (world.shape, epsilon, episodes)
        learner = recommended_learner(*known) if mechanism is None else "ldp-obi"
    if mechanism is None:
        mechanism = LEARNERS.find(learner).usual_mechanism
    agent, randomizer = build(
        learner,
        mechanism,
        world.shape,
        episodes=episodes,
        epsilon=epsilon,
        delta=delta,
        constants=cast("Constants", constants),
        failure_probability=failure_probability,
        alpha=alpha,
        structure=world.structure,
    )
    check_used(learner, world.structure if structure is not None else None)
    warn_of_unused(learner, world.structure)
    warn_of_delta(randomizer.guarantee.delta, episodes)
    central = {} if crowd is None else _central(randomizer, crowd, central_delta or 1e-8)
    if until_certified is not None:
        refuse_beside("--until-certified", {"memory": memory, "episode_days": episode_days})
        return show_until_certified(
            (world, agent, randomizer, episodes), until_certified, runs, seed, rule, as_json
        )
    slowed = rule if memory is None else Within(rule, memory)
    with progress_bar(slowed, episodes, runs) as progress:
        result = simulate(
            world,
            agent,
            randomizer,
            episodes,
            runs,
            seed,
            rule,
            progress,
            status=show_status,
            memory=memory,
            lag=0 if calendar is None else calendar.lag,
            workers=workers or 1,
        )
    joint = agent.joint_epsilon
    level = randomizer.guarantee.epsilon
    found = learnt(world, agent, result.statistics, level)
    if as_json:
        _show_json(result, found, import_seconds, joint, central, curves, calendar)
    else:
        title = f"{learner}, {mechanism} ({constants}) in {mdp}: {_sizes(world)}"
        _show_table(result, found, title, joint, central, calendar)
        if found.users_needed is not None:
            show_line(nothing_learnt(world.shape, level, episodes, found.users_needed))


def _world(mdp: str | None, structure: str | None) -> TabularMDP:
    from ldprl.worlds.specification import mdp_from, with_structure

    if mdp is None:
        raise InputError("mdp", None, "a world, or in its place an environment with --env")
    world = mdp_from(mdp)
    return world if structure is None else with_structure(world, structure)


def _check_central(delta: float, crowd: int | None, until_certified: float | None) -> None:
    probability("central_delta", delta, zero=False)
    if crowd is None or until_certified is not None:
        expected = "a --crowd beside it, and no --until-certified"
        raise InputError("central_delta", delta, expected)


def _central(randomizer: Mechanism, crowd: int, delta: float) -> dict[str, float]:
    """Return the privacy of reports in a crowd that a relay mixes."""
    from ldprl.accounting.shuffling import central_epsilon

    epsilon = central_epsilon(randomizer.blankets(), crowd, delta)
    return {"crowd": crowd, "central_epsilon": epsilon, "central_delta": delta}


def _show_json(
    result: Simulation,
    found: Learnt,
    import_seconds: float,
    joint: float | None,
    central: dict[str, float],
    curves: bool,
    calendar: Calendar | None,
) -> None:
    given = result.guarantee
    drawn = {"checkpoints": result.checkpoints.tolist(), "curves": result.curves.tolist()}
    epsilon = given.epsilon if math.isfinite(given.epsilon) else None
    guarantee = {"epsilon": epsilon, "delta": given.delta} | central
    if joint is not None:
        guarantee["joint_epsilon"] = joint
    show_json(
        {
            "regret": result.regret.tolist(),
            **found.document(),
            **(drawn if curves else {}),
            "episodes": int(result.checkpoints[-1]),
            **({} if calendar is None else {"days": calendar.days(int(result.checkpoints[-1]))}),
            "guarantee": guarantee,
            "seconds": result.seconds,
            "import_seconds": import_seconds,
            "compile_seconds": result.compile_seconds,
        }
    )


def _sizes(world: TabularMDP) -> str:
    shape = world.shape
    return f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"


def _show_table(
    result: Simulation,
    found: Learnt,
    title: str,
    joint: float | None,
    central: dict[str, float],
    calendar: Calendar | None,
) -> None:
    users = int(result.checkpoints[-1])
    given = result.guarantee
    private = "none"
    if math.isfinite(given.epsilon):
        private = f"ε = {at_most(given.epsilon, 6)}, δ = {at_most(given.delta, 4)}"
    elif joint is not None:
        private = f"joint, ε = {joint:g}: the service sees true data"
    regrets = result.regret
    rows = [
        ("users", f"{users:,}"),
        ("regret, mean", number(regrets.mean())),
        ("regret, least", number(regrets.min())),
        ("regret, most", number(regrets.max())),
        ("regret per user", number(regrets.mean() / users)),
        ("value: best policy", f"{found.best_value:.4g}"),
        ("value: acting at random", f"{found.random_value:.4g}"),
        (
            "value: handed out after all reports, mean"
            if calendar
            else "value: handed out now, mean",
            f"{sum(found.final_value) / len(regrets):.4g}",
        ),
        ("share of the gap closed", _closed(found)),
        ("guarantee", private),
        ("seconds", f"{result.seconds:.2f}"),
    ]
    if central:
        mixed = f"ε = {at_most(central['central_epsilon'], 4)}, δ = {central['central_delta']:g}"
        rows.insert(-1, (f"among {central['crowd']:,} that a relay mixes", mixed))
    runs = "1 run" if len(regrets) == 1 else f"{len(regrets)} runs"
    show_table(title, (runs, "value"), rows, right=("value",))
    if calendar is not None:
        show_line(calendar.in_words(users))


def _closed(found: Learnt) -> str:
    shares = found.shares
    if not shares:
        return "no gap"
    return f"{sum(shares) / len(shares):z.1%} on average, {min(shares):z.1%} at least"


def show_until_certified(
    simulation: tuple[TabularMDP, Learner, Mechanism, int],
    gap: float,
    runs: int,
    seed: int,
    rule: Replan,
    as_json: bool,
) -> None:
    """Simulate each run until its policy is certified, and show how long that took."""
    from ldprl.certificates.certified_run import until_certified
    from ldprl.cli.progress import progress_bar

    with progress_bar(rule, simulation[-1], runs) as progress:
        reached = [
            until_certified(*simulation, gap, seed, run, rule, progress) for run in range(runs)
        ]
    if as_json:
        show_json({"gap": gap, "runs": [asdict(one) for one in reached]})
        return
    rows = [
        (
            f"{run + 1}",
            "not yet" if one.users is None else f"{one.users:,}",
            number(one.regret),
            f"{at_least(one.worth.low, 4)} to {at_most(one.worth.high, 4)}",
            at_most(one.optimistic, 4),
        )
        for run, one in enumerate(reached)
    ]
    heads = ("run", "users", "regret", "certified worth", "optimistic value")
    show_table(f"Users until a policy is certified within {gap:g}", heads, rows, right=heads)
