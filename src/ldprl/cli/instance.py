"""``ldprl bounds --instance``: what every learner pays in one world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldprl.cli.show import number, number_at_least, number_at_most, show_line, show_table
from ldprl.errors import positive

if TYPE_CHECKING:
    from ldprl.bounds import Instance
    from ldprl.worlds.tabular import TabularMDP

CLASS = (
    "every world with the same states, actions, horizon and start, with any transitions and any"
    " rewards in [0, 1]{kind}; alternatives change one row (s, a)"
)


def instance_bounds(world: TabularMDP, users: int, epsilon: float) -> dict[str, Any]:
    """Return both bounds for a world, with privacy and without, as JSON has them."""
    from ldprl.bounds import Instance, instance_lower_bound

    epsilon = positive("epsilon", epsilon)
    instance = Instance(world)
    private = instance_lower_bound(instance, epsilon)
    free = instance_lower_bound(instance, None)
    kind = "" if world.shape.step_dependent else ", the same at every step"
    return {
        "instance_lower_bound": private.at(users),
        "instance_lower_bound_without_privacy": free.at(users),
        "instance": {
            "class": CLASS.format(kind=kind),
            "constant": private.constant,
            "constant_without_privacy": free.constant,
            "alternatives": len(instance.alternatives),
            "rows_to_explore": len(private.binding),
            "reason": private.reason,
            "reason_without_privacy": free.reason,
            "pair": _pair(instance, epsilon, users),
            "pair_without_privacy": _pair(instance, None, users),
        },
    }


def _pair(instance: Instance, epsilon: float | None, users: int) -> dict[str, Any] | None:
    from ldprl.bounds.pair import best_pair

    best = best_pair(instance, epsilon, users)
    if best is None:
        return None
    regret, pair = best
    one = pair.alternative
    return {
        "regret": regret,
        "what": one.row.what,
        "step": one.row.steps[0] if len(one.row.steps) == 1 else None,
        "state": one.row.state,
        "action": one.row.action,
        "to_state": one.target,
        "probability_before": one.before,
        "probability_after": one.after,
    }


def show_instance(found: dict[str, Any]) -> None:
    """Print what :func:`instance_bounds` found, for people."""
    about = found["instance"]
    rows = []
    for name, end in (("ε-LDP", ""), ("no privacy", "_without_privacy")):
        pair = about[f"pair{end}"]
        rows.append(
            (
                name,
                number_at_least(found[f"instance_lower_bound{end}"]),
                number(about[f"constant{end}"]),
                "none" if pair is None else number_at_least(pair["regret"]),
            )
        )
    heads = ("privacy", "regret ≥ (K large)", "per ln K", "or its neighbour's (this K)")
    show_table("This world: what no learner can beat", heads, rows, right=heads[1:])
    show_line(f"For learners that are consistent on {about['class']}.")
    for end in ("", "_without_privacy"):
        if about[f"reason{end}"] and (not end or about["reason"] is None):
            show_line(f"The bound{end.replace('_', ' ')} is 0: {about[f'reason{end}']}.")
    if about["pair"] is not None:
        show_line(
            "The last column holds for every learner at this K, here or in a neighbour:"
            f" {_in_words(about['pair'])}."
        )


def crowd_bounds_of(
    world: TabularMDP, crowd: int, epsilon: float, delta: float, users: int, failure: float
) -> dict[str, Any]:
    """Return the bounds for reports that are shuffled in crowds, as JSON has them."""
    from ldprl.bounds import crowd_bounds

    found = crowd_bounds(world, crowd, epsilon, delta, users, failure)
    return {
        "crowd": crowd,
        "epsilon": epsilon,
        "delta": delta,
        "local_epsilon": found.local_epsilon,
        "instance_lower_bound": found.instance_lower_bound,
        "pair_lower_bound": found.pair_lower_bound,
        "central_pair_lower_bound": found.central_pair_lower_bound,
        "upper_bound": found.upper.regret(users),
    }


def show_crowd(found: dict[str, Any]) -> None:
    """Print what :func:`crowd_bounds_of` found, for people."""
    title = (
        f"Shuffled in crowds of {found['crowd']:,}, ({found['epsilon']:g}, {found['delta']:.3g})-DP"
    )
    rows = [
        (text, number_at_least(found[name]))
        for text, name in (
            ("this world, K large, consistent learners", "instance_lower_bound"),
            ("this world or its neighbour, this K, local", "pair_lower_bound"),
            ("the same, whatever a report is by itself", "central_pair_lower_bound"),
        )
    ]
    rows.append(("LDP-EVI, at most", number_at_most(found["upper_bound"])))
    show_table(title, ("bound", "regret"), rows, right=("regret",))
    show_line(
        f"A report of subset selection may then have ε₀ = {found['local_epsilon']:.3g} by itself."
    )


def _in_words(pair: dict[str, Any]) -> str:
    at = "" if pair["step"] is None else f" at step {pair['step']}"
    event = "a reward of 1" if pair["to_state"] is None else f"a move to state {pair['to_state']}"
    before, after = pair["probability_before"], pair["probability_after"]
    place = f"state {pair['state']}, action {pair['action']}{at}"
    return f"{place} has {event} with probability {after:.3g}, not {before:.3g}"
