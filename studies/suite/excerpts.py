"""Tables of other pages that are made of the suite's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ldprl.figures.numerals import number, power
from studies.suite.measures import Score, scores_in
from studies.suite.results import RESULTS, read
from studies.suite.worlds import WORLDS
from studies.table import Table

_TITLES = {world.name: world.title for world in WORLDS}
_COMPARED = (
    "LDP-EVI",
    "LDP-TS",
    "LDP-RETURNS",
    "LDP-OBI",
    "LDP-OBI, printed",
    "LDP-PSRL",
    "ε-greedy",
    "explore then commit",
)
_OPEN = ("LDP-EVI", "LDP-TS", "PSRL", "UCB-VI (Bernstein)", "LDP-OBI", "ε-greedy")
_OVER_BOUND = ("LDP-EVI", "LDP-TS", "LDP-RETURNS", "LDP-OBI", "ε-greedy")
_GALLERY = ("bandit", "random-2", "riverswim", "random-10", "grid-5", "frozen-lake")


@cache
def _scores() -> tuple[Score, ...]:
    lines = read(RESULTS)
    return tuple(score for world in WORLDS for score in scores_in(world, lines))


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], scores: Sequence[Score], note: str = ""
) -> Table:
    return Table(
        heads,
        rows,
        "python -m studies.suite",
        sorted({commit for score in scores for commit in score.commits}),
        sorted({machine for score in scores for machine in score.machines}),
        "† the code has changed since. " * any(score.stale for score in scores) + note,
    )


def _mean(score: Score | None) -> str:
    if score is None:
        return "–"
    error = "" if score.error is None else f" ± {number(score.error)}"
    return number(score.mean) + error + " †" * score.stale


def _runs(score: Score) -> str:
    """Return how many runs there are, and of how many if some are missing."""
    whole = score.runs == score.expected
    return str(score.runs) if whole else f"{score.runs} of {score.expected}"


def recommended(epsilons: Sequence[float] = (1.0, 4.0)) -> Table:
    """Return what the recommended learner comes to in every world."""
    places = list(_TITLES)
    scores = [one for one in _scores() if one.recommended and one.epsilon in epsilons]
    scores.sort(key=lambda one: (places.index(one.world), one.epsilon))
    rows = [
        (
            _TITLES[one.world],
            f"{one.epsilon:g}",
            one.learner,
            power(one.users),
            _runs(one),
            _mean(one),
            number(one.median),
            number(one.worst),
            f"{one.learnt:.1%}",
            f"{one.stuck:.0%}",
        )
        for one in scores
    ]
    heads = (
        "problem",
        "ε",
        "learner",
        "users",
        "runs",
        "mean regret",
        "median",
        "worst run",
        "learnt, mean",
        "stuck",
    )
    return _table(heads, rows, scores)


def beside(learners: Sequence[str], epsilon: float | None) -> Table:
    """Return mean regrets of several learners in the worlds that most of them play in."""
    scores = [one for one in _scores() if one.epsilon == epsilon and one.learner in learners]
    rows = []
    for world in WORLDS:
        here = {one.learner: one for one in scores if one.world == world.name}
        if 0 < world.states <= 25 and here:
            rows.append((world.title, power(world.users), *(_mean(here.get(n)) for n in learners)))
    return _table(("problem", "users", *learners), rows, scores)


def directed(epsilon: float = 1.0) -> Table:
    """Return LDP-RETURNS beside LDP-WAYS, which explores in a directed way."""
    pair = ("LDP-RETURNS", "LDP-WAYS")
    scores = [one for one in _scores() if one.epsilon == epsilon and one.learner in pair]
    rows = []
    for world in WORLDS:
        here = {one.learner: one for one in scores if one.world == world.name}
        if len(here) == len(pair):
            found = [here[name] for name in pair]
            shown = (text for one in found for text in (_mean(one), f"{one.learnt:.1%}"))
            rows.append((world.title, power(world.users), _runs(found[-1]), *shown))
    heads = ["problem", "users", "runs"]
    heads += [f"{who}{what}" for who in pair for what in ("", ", learnt")]
    return _table(heads, rows, scores)


def over_bound() -> Table:
    """Return mean regret over the least of the instance."""
    scores = [one for one in _scores() if one.over_bound is not None]
    places = dict.fromkeys((one.world, one.epsilon) for one in scores if one.epsilon is not None)
    rows = []
    for world, epsilon in places:
        here = {one.learner: one for one in scores if (one.world, one.epsilon) == (world, epsilon)}
        found = (here.get(name) for name in _OVER_BOUND)
        rows.append(
            (
                _TITLES[world],
                f"{epsilon:g}",
                *("–" if one is None else number(one.over_bound or 0.0) for one in found),
            )
        )
    return _table(("world", "ε", *_OVER_BOUND), rows, scores)


def gallery(epsilon: float = 2.0) -> Table:
    """Return what the recommended learner reaches on the problems with a picture."""
    scores = [
        one
        for one in _scores()
        if one.recommended and one.epsilon == epsilon and one.world in _GALLERY
    ]
    sources = {world.name: world.sources() for world in WORLDS if world.name in _GALLERY}
    rows = [
        (
            _TITLES[one.world],
            f"`{sources[one.world][0]}`" + ", …" * (len(sources[one.world]) > 1),
            one.learner,
            power(one.users),
            _runs(one),
            f"{one.learnt:.1%}",
            f"{one.stuck:.0%}",
            _mean(one),
            number(one.worst),
        )
        for one in scores
    ]
    heads = (
        "problem",
        "name",
        "learner",
        "users",
        "runs",
        "share closed, mean",
        "stuck",
        "mean regret",
        "worst run",
    )
    return _table(heads, rows, scores)


EXCERPTS: dict[str, Callable[[], Table]] = {
    "recommended": recommended,
    "learners": lambda: beside(_COMPARED, 1.0),
    "learners-open": lambda: beside(_OPEN, None),
    "directed": directed,
    "over-bound": over_bound,
    "gallery": gallery,
}
