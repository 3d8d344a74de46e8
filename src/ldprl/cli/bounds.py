"""``ldprl bounds``: what theory promises and what it forbids."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ldprl.cli import options
from ldprl.cli.instance import (
    crowd_bounds_of,
    instance_bounds,
    show_crowd,
    show_instance,
)
from ldprl.cli.options import shape_from, usual_delta, warn_of_delta
from ldprl.cli.show import (
    number,
    number_at_least,
    number_at_most,
    show_json,
    show_line,
    show_table,
)
from ldprl.errors import InputError, probability

if TYPE_CHECKING:
    from ldprl.mechanisms.mechanism import Constants
    from ldprl.shape import Shape
    from ldprl.worlds.tabular import TabularMDP

_GAP = 0.1
"""The gap for which LDP-EVI's bound without K is shown."""


def bounds(
    episodes: options.Episodes,
    epsilon: Annotated[float, options.real("E", "ε > 0 of the whole trajectory.")],
    states: Annotated[int | None, options.STATES] = None,
    actions: Annotated[int | None, options.ACTIONS] = None,
    horizon: Annotated[int | None, options.HORIZON] = None,
    mdp: Annotated[
        str | None,
        options.text("MDP", "A world, FILE.json or as in 'regret', in place of the sizes."),
    ] = None,
    instance: Annotated[
        bool,
        typer.Option("--instance", help="Also what no learner can beat in the world of --mdp."),
    ] = False,
    crowd: Annotated[
        int | None,
        options.whole(
            "N",
            "With --instance: also with reports shuffled in crowds of N, (ε, δ) then being"
            " that of the crowd.",
        ),
    ] = None,
    delta: Annotated[
        float | None,
        options.real("D", "δ in (0, 1), for mechanisms that have one. \\[default: 1/(10·K)]"),
    ] = None,
    mechanism: Annotated[
        str | None, options.mechanism("This mechanism only. \\[default: all]")
    ] = None,
    constants: options.ConstantsName = "sound",
    failure_probability: options.FailureProbability = None,
    alpha: options.Alpha = None,
    as_json: options.Json = False,
) -> None:
    """Compute regret bounds, upper and lower, and the paper's table 1.

    Upper bounds are LDP-OBI's, with the constants of the proof; rates have constant 1 and no
    logarithms. With --mdp and --instance, also what every learner pays in that world, and with
    --crowd the same for shuffled reports.
    """
    from ldprl.mechanisms.by_name import MECHANISMS
    from ldprl.worlds.specification import mdp_from

    sizes = {"states": states, "actions": actions, "horizon": horizon}
    if instance and mdp is None:
        raise InputError("mdp", None, "a world: --instance is about one")
    if crowd is not None and not instance:
        raise InputError("crowd", crowd, "--instance beside it: the bounds are those of a world")
    world = None if mdp is None else mdp_from(mdp)
    failure = 0.1 if failure_probability is None else failure_probability
    problem = BoundsQuery(
        _shape(sizes, world),
        episodes,
        epsilon,
        usual_delta(episodes) if delta is None else delta,
        probability("failure_probability", failure, zero=False),
        2.0 if alpha is None else alpha,
        cast("Constants", constants),
    )
    # The theorem is about reports on every step.
    counting = [name for name, kind in MECHANISMS.items() if kind.reports_counters]
    if mechanism is not None and not MECHANISMS.find(mechanism).reports_counters:
        raise InputError("mechanism", mechanism, "one of " + ", ".join(counting))
    names = counting if mechanism is None else [mechanism]
    found: dict[str, Any] = {
        "no_learning": float(problem.shape.horizon * problem.users),
        "upper": [_upper(name, problem) for name in names],
        "ldp_evi": _evi(problem),
        "lower": _lower(problem),
        "rates": _rates(problem),
        "table": _table(problem),
    }
    warn_of_delta(problem.delta, problem.users)
    if instance and world is not None:
        found |= instance_bounds(world, problem.users, problem.epsilon)
        if crowd is not None:
            found["crowd"] = crowd_bounds_of(
                world, crowd, problem.epsilon, problem.delta, problem.users, problem.failure
            )
    if as_json:
        show_json(found)
        return
    show_bounds(found)
    if instance:
        show_instance(found)
    if crowd is not None:
        show_crowd(found["crowd"])


def _shape(sizes: dict[str, int | None], world: TabularMDP | None) -> Shape:
    if world is None:
        return shape_from(sizes, "a whole number, or a world by --mdp in place of sizes", 10**5)
    for name, size in sizes.items():
        if size is not None:
            raise InputError(name, size, "no sizes beside --mdp: the world has its own")
    return world.shape


@dataclass(frozen=True)
class BoundsQuery:
    """What the bounds are asked about."""

    shape: Shape
    users: int
    epsilon: float
    delta: float
    failure: float
    alpha: float
    constants: Constants

    @property
    def sizes(self) -> tuple[int, int, int]:
        """S, A and H."""
        return self.shape.states, self.shape.actions, self.shape.horizon


def _upper(name: str, given: BoundsQuery) -> dict[str, Any]:
    from ldprl.bounds import regret_upper_bound
    from ldprl.mechanisms.by_name import build_mechanism

    constants = given.constants
    mechanism = build_mechanism(name, given.shape, given.epsilon, given.delta, constants=constants)
    laws, guarantee = mechanism.error_laws, mechanism.guarantee
    bound = regret_upper_bound(
        given.shape, given.users, laws, given.failure, given.alpha, constants=constants
    )
    return {
        "mechanism": name,
        "epsilon": guarantee.epsilon if math.isfinite(guarantee.epsilon) else None,
        "delta": guarantee.delta,
        "regret": bound.total,
        "terms": asdict(bound),
    }


def _evi(given: BoundsQuery) -> dict[str, Any]:
    """Return the bound of LDP-EVI, as it is and if everybody explores."""
    from ldprl.bounds import evi_upper_bound
    from ldprl.mechanisms.by_name import build_mechanism

    mechanism = build_mechanism("subset-selection", given.shape, given.epsilon)
    bound = evi_upper_bound(mechanism, given.failure)
    all_explore = evi_upper_bound(
        mechanism, given.failure, watched=1.0, least_weight=1.0, tolerated=1.0
    )
    return {
        "mechanism": mechanism.name,
        "regret": bound.regret(given.users),
        "gap": _GAP,
        "regret_with_gap": bound.regret(gap=_GAP),
        "largest_plan": bound.largest_plan,
        "regret_if_all_explore": all_explore.regret(given.users),
        "regret_with_gap_if_all_explore": all_explore.regret(gap=_GAP),
    }


def _lower(given: BoundsQuery) -> dict[str, Any]:
    """Return the lower bound, or why it does not apply to this problem."""
    from ldprl.bounds import regret_lower_bound_ldp as lower_bound

    try:
        least = lower_bound(*given.sizes, given.users, given.epsilon, constants=given.constants)
    except InputError as unmet:
        return {"regret": None, "unmet": f"{unmet.field} must be {unmet.expected}"}
    return {"regret": least, "unmet": None}


def _rates(given: BoundsQuery) -> dict[str, float]:
    from ldprl.bounds import (
        evi_rate,
        psrl_rate,
        pucb_rate,
        regret_lower_bound_jdp,
        rivals_rate,
        shuffle_regret_rate,
    )

    problem = (*given.sizes, given.users, given.epsilon)
    return {
        "PSRL without privacy": psrl_rate(*given.sizes, given.users),
        "JDP lower bound": regret_lower_bound_jdp(*problem),
        "PUCB under JDP": pucb_rate(*problem),
        "LDP-EVI under LDP": evi_rate(*problem),
        "Chowdhury-Zhou, Qiao-Wang under LDP": rivals_rate(*problem),
        "LDP-OBI with shuffle": shuffle_regret_rate(*problem, constants=given.constants),
    }


def _table(given: BoundsQuery) -> list[dict[str, Any]]:
    from ldprl.bounds import table_one

    rows = table_one(
        *given.sizes,
        episodes=given.users,
        epsilon=given.epsilon,
        delta=given.delta,
        constants=given.constants,
    )
    return [asdict(row) for row in rows]


def show_bounds(found: dict[str, Any]) -> None:
    """Print upper bounds, the lower bound, rates and the paper's table 1."""
    trivial = found["no_learning"]
    upper = [
        (
            row["mechanism"],
            "none" if row["epsilon"] is None else f"({row['epsilon']:g}, {row['delta']:.3g})",
            number_at_most(row["regret"]),
            f"{row['regret'] / trivial:.3g}",
        )
        for row in found["upper"]
    ]
    show_table(
        "Upper bounds: LDP-OBI's regret",
        ("mechanism", "(ε, δ)", "regret ≤", "of H·K"),
        upper,
        right=("regret ≤", "of H·K"),
    )
    evi = found["ldp_evi"]
    show_line(
        f"LDP-EVI with subset selection: at most {number_at_most(evi['regret'])}, and"
        f" {number_at_most(evi['regret_with_gap'])} for any number of users if every policy that"
        f" is not best loses at least {evi['gap']}; if everybody explores,"
        f" {number_at_most(evi['regret_if_all_explore'])} and"
        f" {number_at_most(evi['regret_with_gap_if_all_explore'])}."
    )
    show_line(f"Not learning at all costs at most H·K = {number(trivial)}.\n")

    least = found["lower"]
    if least["regret"] is None:
        show_line(f"No lower bound under ε-LDP here: {least['unmet']}.\n")
    else:
        some = "some MDP of this size costs every ε-LDP learner"
        show_line(f"Lower bound: {some} a regret of {number_at_least(least['regret'])}.\n")

    rates = [(name, number(value)) for name, value in found["rates"].items()]
    show_table("Rates, for comparison", ("of", "order"), rows=rates, right=("order",))

    columns = ("mechanism", "level", "regret", "order", "step_dependent")
    rows = [
        [number(row[name]) if name == "order" else row[name] for name in columns]
        for row in found["table"]
    ]
    heads = ("randomizer", "LDP level", "regret Õ(·)", "order", "step-dependent ×")
    show_table("Table 1", heads, rows, right=("order",))
