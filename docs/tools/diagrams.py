"""Pictures made of boxes and arrows: the loop, one assignment, the house."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

USER, SERVICE, INK = "#e8a33d", "#2a7f78", "#333333"
PALE_USER, PALE_SERVICE, GREY = "#fdf3e2", "#e4f2f0", "#dddddd"
Point = tuple[float, float]


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure with one unit to the inch and nothing drawn on it."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def box(axes: Axes, centre: Point, size: Point, text: str, colour: str) -> None:
    """Draw a box with words in it."""
    corner = (centre[0] - size[0] / 2, centre[1] - size[1] / 2)
    axes.add_patch(
        FancyBboxPatch(
            corner, *size, boxstyle="round,pad=0,rounding_size=0.1", fc=colour, ec="none"
        )
    )
    axes.text(*centre, text, ha="center", va="center", color="white", linespacing=1.4)


def arrow(axes: Axes, start: Point, end: Point, text: str = "", shift: Point = (0, 0)) -> None:
    """Draw an arrow with words beside its middle."""
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=INK, lw=1.4)
    )
    x, y = (start[0] + end[0]) / 2 + shift[0], (start[1] + end[1]) / 2 + shift[1]
    axes.text(x, y, text, ha="center", va="center", color=INK, fontsize=9, linespacing=1.3)


def side(axes: Axes, corner: Point, size: Point, colour: str, title: str) -> None:
    """Tint a region and name it at its top."""
    axes.add_patch(Rectangle(corner, *size, fc=colour, ec="none", zorder=0))
    middle = corner[0] + size[0] / 2
    axes.text(middle, corner[1] + size[1] - 0.2, title, ha="center", color=INK, weight="bold")


def loop() -> Figure:
    """Draw the loop: user, report, sums, policy, user."""
    figure, axes = canvas(8, 3.9)
    side(axes, (0.1, 0.1), (3.1, 3.7), PALE_USER, "stays with the user")
    side(axes, (4.8, 0.1), (3.1, 3.7), PALE_SERVICE, "seen by the service")
    box(axes, (1.65, 2.8), (2.5, 0.7), "trajectory\nwhat happened to me", USER)
    box(axes, (1.65, 1.1), (2.5, 0.7), "act by the policy,\non my true state", USER)
    box(axes, (6.35, 2.8), (2.5, 0.7), "sums\nof very many reports", SERVICE)
    box(axes, (6.35, 1.1), (2.5, 0.7), "learner\nsums → better policy", SERVICE)
    arrow(axes, (1.65, 1.45), (1.65, 2.45), "one\nepisode", (0.6, 0))
    arrow(axes, (2.9, 2.8), (5.1, 2.8), "randomized report\n(the only thing sent)", (0, 0.35))
    arrow(axes, (6.35, 2.45), (6.35, 1.45), "plan again\nnow and then", (0.7, 0))
    arrow(axes, (5.1, 1.1), (2.9, 1.1), "the whole policy table\n(public)", (0, -0.4))
    return figure


def assignment() -> Figure:
    """Draw a policy table, the states that one user visits, and the one question asked."""
    figure, axes = canvas(8.4, 3.9)
    table = [["a", "b", "a", "b"], ["b", "b", "a", "a"], ["a", "a", "b", "a"]]
    visited = [1, 3, 2]
    axes.text(2.0, 3.6, "the assignment (public)", ha="center", weight="bold", color=INK)
    axes.text(6.3, 3.6, "the user (private)", ha="center", weight="bold", color=INK)
    for step, actions in enumerate(table):
        y = 2.75 - 0.55 * step
        asked = step == 1
        axes.text(0.75, y, f"step {step + 1}", ha="right", va="center", color=INK)
        for state, action in enumerate(actions):
            x = 1.1 + 0.55 * state
            axes.add_patch(Rectangle((x - 0.25, y - 0.25), 0.5, 0.5, fc=PALE_SERVICE, ec="white"))
            axes.text(x, y, action, ha="center", va="center", color=INK)
            if step == 0:
                axes.text(x, y + 0.4, f"s{state + 1}", ha="center", color=INK, fontsize=9)
            mine = state == visited[step]
            colour = USER if mine else PALE_USER
            axes.add_patch(Rectangle((x + 4.15, y - 0.25), 0.5, 0.5, fc=colour, ec="white"))
            if mine:
                axes.text(x + 4.4, y, action, ha="center", va="center", color="white")
        if asked:
            axes.add_patch(Rectangle((0.15, y - 0.28), 3.0, 0.56, fill=False, ec=SERVICE, lw=1.8))
            axes.add_patch(Rectangle((4.9, y - 0.28), 2.6, 0.56, fill=False, ec=SERVICE, lw=1.8))
    arrow(
        axes,
        (3.2, 2.2),
        (4.85, 2.2),
        "question: where were you\nat step 2, and was there\na reward?",
        (0, 0.5),
    )
    box(
        axes,
        (6.2, 0.5),
        (3.9, 0.6),
        "report: a few answers drawn at random,\nmine among them more often",
        USER,
    )
    arrow(axes, (6.2, 1.35), (6.2, 0.82))
    arrow(axes, (4.2, 0.5), (2.9, 0.5))
    axes.text(
        1.75, 0.5, "to the service,\nwhich adds reports up", ha="center", va="center", color=INK
    )
    return figure


def data_flow() -> Figure:
    """Draw the folders of the package and what passes between them."""
    figure, axes = canvas(9.2, 4.6)
    side(axes, (0.1, 1.3), (2.9, 3.2), PALE_USER, "the user's side (numpy only)")
    side(axes, (3.9, 1.3), (5.2, 3.2), PALE_SERVICE, "the learner's side (never a Trajectory)")
    box(axes, (1.55, 3.6), (2.3, 0.65), "worlds · or a real user\na Trajectory", USER)
    box(axes, (1.55, 1.95), (2.3, 0.65), "mechanisms\nmechanism.privatize", USER)
    box(axes, (5.05, 1.95), (2.0, 0.65), "mechanisms\ntally · decode", SERVICE)
    box(axes, (7.85, 1.95), (2.0, 0.65), "statistics.py\nStatistics", SERVICE)
    box(axes, (7.85, 3.6), (2.0, 0.65), "learning\nlearner.plan", SERVICE)
    box(axes, (5.05, 3.6), (2.0, 0.65), "assignment.py\nPlan, Question", SERVICE)
    arrow(axes, (1.55, 3.27), (1.55, 2.28), "counters, or\none answer", (0.62, 0))
    arrow(axes, (2.7, 1.95), (4.05, 1.95), "report\n(integers)", (0, 0.3))
    arrow(axes, (6.05, 1.95), (6.85, 1.95), "sums", (0, 0.18))
    arrow(axes, (7.85, 2.28), (7.85, 3.27))
    arrow(axes, (6.85, 3.6), (6.05, 3.6), "plan", (0, 0.18))
    arrow(axes, (4.05, 3.6), (2.7, 3.6), "policy table\nand question", (0, 0.3))
    axes.add_patch(Rectangle((0.1, 0.1), 9.0, 0.95, fc=GREY, ec="none"))
    words = (
        "simulation/ turns this loop in silico · client/, protocol/ and service/ turn it over "
        "HTTP\n"
        "experiments/ runs grids · advice/ forecasts · bounds/ says what theory allows · "
        "figures/ draws the figures"
    )
    axes.text(4.6, 0.57, words, ha="center", va="center", fontsize=9, color=INK, linespacing=1.6)
    return figure
