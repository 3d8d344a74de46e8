"""The report: what was run, what it shows, and how long it took."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import ldprl
from ldprl.figures.cells import LEAST_GAP, best_value, first_draw, gap
from ldprl.figures.figure import Chapter, Grid
from ldprl.figures.numerals import listing, power
from ldprl.figures.page import appendix, in_short, opening, page, section
from ldprl.figures.settings import ALPHA, DELTA, FAILURE_PROBABILITY, GROWTH, Settings

TITLE = "Local privacy in reinforcement learning: the experiments, run again"
_AFTER = "Local privacy in reinforcement learning: beyond the paper"


@dataclass(frozen=True)
class Timing:
    """Where the time went; ``compiling`` is added up over processes."""

    total: float
    simulating: float
    compiling: float
    processes: int
    simulated: int
    reused: int


def report(settings: Settings, chapters: Sequence[Chapter], timing: Timing) -> str:
    """Return the page."""
    leads = [chapter.figure.lead for chapter in chapters]
    # Where only figures beyond the paper are shown, the first one introduces the report.
    beyond = leads[0] if all(leads) else None
    title = _AFTER if beyond else TITLE
    lead = beyond(settings) if beyond else _lead(settings)
    return page(
        title,
        [
            opening(title, f"{lead} {_effort(timing)}."),
            in_short(chapters),
            *(section(chapter) for chapter in chapters),
            *([] if beyond else [_choices(settings)]),
            _timing(timing, chapters),
        ],
    )


def _effort(timing: Timing) -> str:
    if not timing.simulated + timing.reused:
        return "Nothing had to be simulated"
    if not timing.simulated:
        return "All curves had been simulated before"
    fresh = f"{timing.simulated} curves were simulated in {timing.simulating:.0f} s"
    return f"{fresh}, {timing.reused} had been before" if timing.reused else fresh


def _lead(settings: Settings) -> str:
    return (
        "Garcelon, Perchet, Pike-Burke and Pirotta (2021) study what regret costs when every"
        " user's trajectory must be locally private. Here are their figures and tables again,"
        f" with {power(settings.episodes)} users in each run and {settings.runs} runs of each"
        " curve: once with the constants that the paper prints, and once with constants that give"
        " the privacy and the confidence they state. The first figure also has LDP-EVI and LDP-TS,"
        " which are not in the paper."
    )


def _choices(settings: Settings) -> str:
    draw = first_draw(settings.states)
    rows = [
        ("episodes K, runs", f"{power(settings.episodes)}, {settings.runs}", "the paper: 10⁸, 20"),
        ("ε", listing([f"{epsilon:g}" for epsilon in settings.epsilons]), "the paper: 0.2, 2, 20"),
        ("δ of Gaussian and bounded noise", f"{DELTA:g}", "the paper"),
        (
            "MDP",
            f"RandomMDP, S = {settings.states}, A = H = 2, Dirichlet(0.1), rewards in {{0, 1}}",
            "the paper, with S = 2",
        ),
        (
            "which draw of it",
            f"{draw.name}: the first seed for which the best policy beats the worst by more than"
            f" {LEAST_GAP:g} (V* = {best_value(draw.mdp):.3g}, gap {gap(draw.mdp):.3g})",
            "ours; the paper does not say",
        ),
        ("start state", "uniform", "ours; the paper does not say"),
        ("α of LDP-OBI", f"{ALPHA:g}", "ours; the paper asks for α > 1"),
        ("failure probability", f"{FAILURE_PROBABILITY:g}", "ours; the paper does not say"),
        (
            "when to plan again",
            f"when users have grown by {100 * GROWTH:g}%; the sums between are drawn exactly in"
            " distribution",
            "ours; the paper: after every user",
        ),
        (
            "Gaussian noise of the paper",
            "c² = 4 ln(24/δ), as its utility proposition has it",
            "ours; its privacy proposition has c > 4 ln(24/δ)",
        ),
        ("bounded noise of the paper", "C = 1", "ours; the paper does not say"),
        ("UCB-VI", "Azar et al. (2017), Hoeffding bonus", "the paper names the article"),
        ("bands", "least and most of the runs", "the paper"),
        ("seed", str(settings.seed), "ours"),
    ]
    text = (
        "Settings that the paper gives are as it gives them; the others are our choice. Whether the"
        " conclusions depend on the draw of the MDP is what python -m studies draws shows."
    )
    grid = Grid("", ("choice", "here", "whose"), rows)
    return appendix("settings", "Settings", text, grid)


def _timing(timing: Timing, chapters: Sequence[Chapter]) -> str:
    rows = [
        ("simulating", f"{timing.simulating:.1f} s", f"{timing.simulated} curves"),
        ("of which compiling", f"{timing.compiling:.1f} s", "added up over processes"),
        *((f"drawing {chapter.name}", f"{chapter.seconds:.1f} s", "") for chapter in chapters),
        ("all", f"{timing.total:.1f} s", ""),
    ]
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "matplotlib"))
    text = (
        f"On {timing.processes} processes, with ldprl {ldprl.__version__}, Python"
        f" {platform.python_version()}, {packages}."
    )
    return appendix("timing", "Timing", text, Grid("", ("what", "time", ""), rows))
