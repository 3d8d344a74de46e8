"""Which of the conclusions hold in every MDP, and which hang on the one that was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ldprl.figures.common.figure import Findings, Grid
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.words import at_epsilons, number

Row = dict[str, Any]
_TINY = 1e-12


@dataclass(frozen=True)
class Claim:
    """That ``less`` has less regret than ``more``, each (learner, mechanism, constants)."""

    text: str
    less: tuple[str, str, str]
    more: tuple[str, str, str]
    epsilon: float

    def ratios(self, rows: list[Row]) -> list[float]:
        """Return more over less, for each MDP; the claim holds where it is above 1."""
        less, more = (self._means(rows, which) for which in (self.less, self.more))
        return [more[place] / max(less[place], _TINY) for place in less]

    def _means(self, rows: list[Row], which: tuple[str, str, str]) -> dict[str, float]:
        return {
            row["environment"]: row["mean"]
            for row in rows
            if (row["learner"], row["mechanism"], row["constants"]) == which
            and row["epsilon"] == self.epsilon
        }


def claims() -> list[Claim]:
    """Return what the paper concludes from its figures, and what sound constants change."""
    optimist = ("ldp-obi", "laplace", "paper")
    sampler = ("ldp-psrl", "laplace", "paper")
    bounded = ("ldp-obi", "bounded-noise", "paper")
    gaussian = ("ldp-obi", "gaussian", "paper")
    response = ("ldp-obi", "randomized-response", "paper")
    sound = ("ldp-obi", "laplace", "sound")
    kinds = (
        ("LDP-PSRL beats LDP-OBI", sampler, optimist),
        ("Bounded noise beats Laplace", bounded, optimist),
        ("Laplace beats Gaussian", optimist, gaussian),
        ("Laplace beats randomized response", optimist, response),
        ("Sound constants beat the paper's", sound, optimist),
    )
    return [Claim(text, less, more, e) for text, less, more in kinds for e in EPSILONS]


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    rows = table.to_pylist()
    tested = [(claim, claim.ratios(rows)) for claim in claims()]
    total = len(tested[0][1])
    always = [claim for claim, ratios in tested if all(ratio > 1 for ratio in ratios)]
    never = [claim for claim, ratios in tested if all(ratio <= 1 for ratio in ratios)]
    sentences = [
        _named(always, f"Holds in all of {total} MDPs"),
        _named(never, f"Holds in none of {total} MDPs"),
        almost_linear(rows),
    ]
    lines = [
        (
            claim.text,
            f"{claim.epsilon:g}",
            f"{sum(ratio > 1 for ratio in ratios)} of {total}",
            number(min(ratios)),
            number(sorted(ratios)[len(ratios) // 2]),
            number(max(ratios)),
        )
        for claim, ratios in tested
    ]
    heads = ("claim", "ε", "holds in", "least ratio", "median", "most")
    return Findings(sentences, [Grid("Ratios of regret; above 1 the claim holds", heads, lines)])


def almost_linear(rows: list[Row]) -> str:
    """Say how LDP-OBI's regret grows at the smallest ε, over the MDPs."""
    powers = [
        row["exponent"]
        for row in rows
        if (row["learner"], row["mechanism"]) == ("ldp-obi", "laplace")
        and row["constants"] == "paper"
        and row["epsilon"] == min(EPSILONS)
    ]
    return (
        f"At ε = {min(EPSILONS):g} LDP-OBI's regret grows like k to the power of"
        f" {min(powers):.2f} to {max(powers):.2f}, over the last factor of ten."
    )


def _named(chosen: list[Claim], where: str) -> str:
    names = []
    for text in dict.fromkeys(claim.text for claim in chosen):
        epsilons = [claim.epsilon for claim in chosen if claim.text == text]
        names.append(f"{text} at {at_epsilons(epsilons)}")
    return f"{where}: {'; '.join(names) if names else 'none of the claims'}."
