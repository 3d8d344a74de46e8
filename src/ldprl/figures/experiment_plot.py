"""A picture of a results folder: mean regret ± standard error, a panel for each environment."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from ldprl.experiments.summary import Line, ReturnLine, Summary
from ldprl.figures.drawing import log_axis, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, safe for the colour-blind, without yellow, which is faint on white.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#1b1b1b")
_STYLES = ("-", "--", ":", "-.")
_COLUMNS = 3


def plot_experiment(summary: Summary) -> Figure:
    """Draw every combination; bands are one standard error to either side."""
    lines: tuple[Line | ReturnLine, ...] = summary.lines or summary.returns
    environments = list(dict.fromkeys(line.environment for line in lines))
    names = list(dict.fromkeys(line.name for line in lines))
    looks = [(colour, dash) for dash, colour in product(_STYLES, _COLOURS)]
    columns = min(_COLUMNS, len(environments))
    rows = -(-len(environments) // columns)
    with style():
        picture, grid = panels(rows, columns, width=5.2, height=4.0, sharey=False)
        places = [axes for row in grid for axes in row]
        for axes, environment in zip(places, environments, strict=False):
            for line in lines:
                if line.environment != environment:
                    continue
                colour, dash = looks[names.index(line.name) % len(looks)]
                mean, error = line.curves.mean(axis=0), line.standard_error
                low, seen = mean - error, line.users > 0
                if isinstance(line, Line):
                    seen, low = mean > 0, low.clip(min=mean / 10)
                axes.plot(line.users[seen], mean[seen], dash, color=colour, label=line.name)
                if len(line.curves) > 1:  # one run says nothing about its error
                    axes.fill_between(
                        line.users[seen], low[seen], (mean + error)[seen], color=colour, alpha=0.15
                    )
            axes.set_title(environment)
            axes.set_xlabel("users")
            log_axis(axes, "x")
            if summary.lines:
                axes.set_ylabel("regret, mean ± standard error")
                log_axis(axes, "y")
            else:
                axes.set_ylabel("mean return of the policy ± standard error")
        for axes in places[len(environments) :]:
            axes.set_visible(False)
        seen_names = {
            text: handle
            for axes in places[: len(environments)]
            for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        shown = [name for name in names if name in seen_names]
        picture.legend(
            [seen_names[name] for name in shown], shown, loc="outside lower center", fontsize=9
        )
        if summary.finished < summary.cells:
            picture.suptitle(f"{summary.finished} of {summary.cells} cells finished")
    return picture
