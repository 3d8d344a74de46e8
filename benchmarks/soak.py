"""A million reports to one server: memory, latency and file size on the way, and the picture.

``python -m benchmarks.soak`` draws ``docs/images/soak.svg`` and writes the figures beside it, in
``soak.json``; ``--from FILE`` draws again from such figures. Plans are made all along, by the
deployment's epoch rule, so that what planning adds to latency is in the picture.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.bench_service import serving

DEPLOYMENT = """
name = "soak"
states = 4
actions = 3
horizon = 4
epsilon = "3"
epochs = "growth:0.1"
"""
CONNECTIONS, ROUND = 64, 20_000
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "soak.svg"


@dataclass(frozen=True)
class Point:
    """The state after this many reports; latencies are those of the last round, in ms."""

    reports: int
    megabytes: float
    p50: float
    p99: float
    rate: float
    file_megabytes: float


def measure(reports: int) -> list[Point]:
    """Send ``reports`` single reports in rounds, and look at the server after each."""
    points: list[Point] = []
    with contextlib.ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        server = running.enter_context(serving("ldprl", folder, DEPLOYMENT))
        began = time.monotonic()
        for done in range(ROUND, reports + 1, ROUND):
            measured = server.load(CONNECTIONS, ROUND, 1)
            size = sum(path.stat().st_size for path in folder.glob("*.sqlite*"))
            rate = 1e6 / measured.report
            memory = server.megabytes()
            points.append(Point(done, memory, measured.p50, measured.p99, rate, size / 2**20))
            left = (time.monotonic() - began) / done * (reports - done)
            print(f"{done:,} reports, {memory:.0f} MiB, {left:.0f} s left", flush=True)
    return points


def draw(points: list[Point], picture: Path) -> None:
    """Draw memory and latency over the number of reports."""
    mpl.rcParams["svg.hashsalt"] = "ldprl"
    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    counts = [point.reports / 1e6 for point in points]
    above.plot(counts, [point.megabytes for point in points], label="server's memory")
    above.plot(counts, [point.file_megabytes for point in points], label="database's files")
    above.set_ylabel("MiB")
    above.set_ylim(bottom=0)
    above.legend(frameon=False)
    below.plot(counts, [point.p50 for point in points], label="median")
    below.plot(counts, [point.p99 for point in points], label="slowest 1%")
    below.set_yscale("log")
    below.set_yticks(ticks := [10, 20, 50, 100, 200, 500], labels=[str(tick) for tick in ticks])
    below.minorticks_off()
    below.set_ylabel("ms from POST to response")
    below.set_xlabel("million reports, each in a POST of its own, on 64 connections")
    below.legend(frameon=False)
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, metadata={"Date": None})


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=float, default=1e6)
    parser.add_argument("--from", dest="figures", type=Path)
    parser.add_argument("--out", type=Path, default=PICTURE)
    given = parser.parse_args()
    if given.figures is None:
        points = measure(int(given.reports))
        figures = given.out.with_suffix(".json")
        figures.write_text(json.dumps([asdict(point) for point in points]), encoding="utf-8")
    else:
        points = [Point(**point) for point in json.loads(given.figures.read_text(encoding="utf-8"))]
    draw(points, given.out)


if __name__ == "__main__":
    main()
