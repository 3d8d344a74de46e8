"""The bounds of ``ldprl bounds`` as tables and sentences."""

from __future__ import annotations

from typing import Any

from ldprl.cli.show import number, show_line, show_table


def show_bounds(found: dict[str, Any]) -> None:
    """Print upper bounds, the lower bound, rates and the paper's table 1."""
    trivial = found["no_learning"]
    upper = [
        (
            row["mechanism"],
            "none" if row["epsilon"] is None else f"({row['epsilon']:g}, {row['delta']:.3g})",
            number(row["regret"]),
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
        f"LDP-EVI with subset selection: at most {number(evi['regret'])}, and"
        f" {number(evi['regret_with_gap'])} for any number of users if every policy that is not"
        f" best loses at least {evi['gap']}; if everybody explores,"
        f" {number(evi['regret_if_all_explore'])} and"
        f" {number(evi['regret_with_gap_if_all_explore'])}."
    )
    show_line(f"Not learning at all costs at most H·K = {number(trivial)}.\n")

    least = found["lower"]
    if least["regret"] is None:
        show_line(f"No lower bound under ε-LDP here: {least['unmet']}.\n")
    else:
        some = "some MDP of this size costs every ε-LDP learner"
        show_line(f"Lower bound: {some} a regret of {number(least['regret'])}.\n")

    rates = [(name, number(value)) for name, value in found["rates"].items()]
    show_table("Rates, for comparison", ("of", "order"), rows=rates, right=("order",))

    columns = ("mechanism", "level", "regret", "order", "step_dependent")
    rows = [
        [number(row[name]) if name == "order" else row[name] for name in columns]
        for row in found["table"]
    ]
    heads = ("randomizer", "LDP level", "regret Õ(·)", "order", "step-dependent ×")
    show_table("Table 1", heads, rows, right=("order",))
