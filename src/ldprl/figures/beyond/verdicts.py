"""The aims that were set before anything was run, each held against what was found."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.figures.beyond.contenders import NOISELESS, OPTIMIST, SAMPLER, Contender
from ldprl.figures.beyond.measures import Results, ratios, spread_of
from ldprl.figures.beyond.sweep import LARGER
from ldprl.figures.common.curves import pick
from ldprl.figures.common.words import power

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
    """Return a verdict for every aim that these results can tell about."""
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
