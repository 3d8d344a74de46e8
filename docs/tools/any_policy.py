"""Learn in CartPole and glucose, with privacy and without: the data of ``any-policy.png``.

``python docs/tools/any_policy.py`` writes ``docs/images/any-policy.json``: the mean return of the
policy that would be handed over, over 20 runs, with its standard error. It takes minutes.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ldprl import Rollouts, __version__, learn
from ldprl.simulation.regret import standard_error

DATA = Path(__file__).parents[1] / "images" / "any-policy.json"
WORLDS = {"CartPole-v1": 5_000, "glucose": 10_000}
"""Users of a run."""
LEVELS = (0.5, 1.0, 2.0, None)
RUNS, SEED = 20, 0
_COLOURS = ("#9c4a1a", "#c98a2b", "#1f7a6d", "#8a8a8a")


def main() -> None:
    """Run all of it, and write what was found."""
    found = {
        name: [_line(learn(name, epsilon=level, users=users, runs=RUNS, seed=SEED))
               for level in LEVELS]
        for name, users in WORLDS.items()
    }  # fmt: skip
    about = {
        "command": "python docs/tools/any_policy.py",
        "version": __version__,
        "python": platform.python_version(),
        "seed": SEED,
        "runs": RUNS,
    }
    DATA.write_text(json.dumps(about | {"worlds": found}, indent=1) + "\n", encoding="utf-8")


def _line(result: Rollouts) -> dict[str, Any]:
    return {
        "epsilon": result.epsilon if result.epsilon < float("inf") else None,
        "users": result.looks.tolist(),
        "mean": result.worth.mean(axis=0).round(4).tolist(),
        "standard_error": standard_error(result.worth).round(4).tolist(),
        "least": float(result.final_return.min()),
    }


def any_policy() -> Figure:
    """Draw what the policy to hand over is worth against users."""
    document = json.loads(DATA.read_text(encoding="utf-8"))
    titles = ("CartPole-v1: steps that the pole stands", "glucose: hours in range, of a day")
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for axes, lines, title in zip(
        figure.subplots(1, 2), document["worlds"].values(), titles, strict=True
    ):
        for line, colour in zip(lines, _COLOURS, strict=True):
            level = line["epsilon"]
            label = "no privacy" if level is None else f"ε = {level:g}"
            users, mean = line["users"][1:], line["mean"][1:]
            error = line["standard_error"][1:]
            low = [a - b for a, b in zip(mean, error, strict=True)]
            high = [a + b for a, b in zip(mean, error, strict=True)]
            axes.fill_between(users, low, high, color=colour, alpha=0.2, linewidth=0)
            style = "--" if level is None else "-"
            axes.plot(users, mean, style, color=colour, label=label)
        axes.set(xscale="log", xlabel="users, one private bit each", title=title)
        axes.title.set_fontsize(10)
    lines, labels = axes.get_legend_handles_labels()
    figure.legend(lines, labels, frameon=False, ncols=len(labels), loc="outside lower center")
    return figure


if __name__ == "__main__":
    main()
