"""The aims that were set before anything was run, each beside what was found."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.figures.curves import pick
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import number, power
from studies.figures.beyond.results import (
    LARGER,
    NOISELESS,
    OPTIMIST,
    SAMPLER,
    Contender,
    Results,
    ratios,
    spread_of,
)

AIMS: dict[tuple[Contender, int], dict[float, float]] = {
    (OPTIMIST, 10**6): {0.2: 30, 2.0: 2_000, 20.0: 5_000},
    (OPTIMIST, 10**8): {0.2: 2_000, 2.0: 100_000, 20.0: 100_000},
    (SAMPLER, 10**8): {0.2: 5_000, 2.0: 200_000, 20.0: 200_000},
}
"""The least geometric mean, over the draws, of the reference's regret over ours."""
LARGER_AIM = 10.0
"""The least ratio of noiseless LDP-OBI's regret to ours, at ε = 2 and K = 10⁸."""
LARGER_PLACES = ("riverswim:6,20", "random:10,3,5,0")


@dataclass(frozen=True)
class Verdict:
    """An aim, what was found, and whether that is enough."""

    text: str
    aim: float
    found: float

    @property
    def met(self) -> bool:
        """Whether the aim is reached."""
        return self.found >= self.aim


def verdicts(results: Results) -> list[Verdict]:
    """Return a verdict for every aim that these results cover."""
    found = []
    for (one, users), by_epsilon in AIMS.items():
        for epsilon, aim in by_epsilon.items():
            if epsilon in results.epsilons and users <= results.episodes:
                mean = spread_of(results.ratios(one, epsilon, users)).mean
                found.append(Verdict(_text(one, epsilon, users), aim, mean))
    users, epsilon = 10**8, 2.0
    if epsilon in results.epsilons and users <= results.episodes:
        for place in LARGER_PLACES:
            here = pick(results.larger, environment=place)
            for one in (OPTIMIST, SAMPLER):
                (ratio,) = ratios(NOISELESS.curves(here), one.curves(here, epsilon), users)
                text = f"{_text(one, epsilon, users)}, on {LARGER[place]} beside noiseless LDP-OBI"
                found.append(Verdict(text, LARGER_AIM, ratio))
    return found


def _text(one: Contender, epsilon: float, users: int) -> str:
    return f"{one.name}, ε = {epsilon:g}, {power(users)} users"


def aims(results: Results) -> str:
    """Say which aims are reached."""
    found = verdicts(results)
    if not found:
        return "This run is too short, or has too few ε, for the aims that were set."
    missed = [verdict for verdict in found if not verdict.met]
    if not missed:
        return f"All of {len(found)} aims are reached."
    names = [f"{verdict.text} ({number(verdict.found)})" for verdict in missed]
    return (
        f"Of {len(found)} aims {len(found) - len(missed)} are reached. Not reached:"
        f" {'; '.join(names)}."
    )


def aims_grid(results: Results) -> Grid:
    """Return the aims beside what was found."""
    rows = [
        (v.text, f"≥ {number(v.aim)}", number(v.found), "reached" if v.met else "not reached")
        for v in verdicts(results)
    ]
    heads = ("aim", "ratio aimed at", "found", "")
    return Grid("What was aimed at, and what was found", heads, rows, folded=False)
