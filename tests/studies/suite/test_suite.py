"""The suite: its digests, its measures, and what is kept of a run that was interrupted."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from studies.suite.cells import ENTRIES, Found, Run, SuiteCell, cells_of, users_before
from studies.suite.closure import SOURCE, closure, code_of, digest_of
from studies.suite.measures import bootstrap_error, scores_in
from studies.suite.pictures import shares_in_common
from studies.suite.results import RESULTS, Line, confirm, current, read, run
from studies.suite.worlds import REPORTING, WORLDS, available

ROOT = Path(__file__).parents[3]
OBI = ("ldprl.learning.ldp_obi", "ldprl.mechanisms.laplace")
BANDIT = WORLDS[0]
OPTIMIST = next(entry for entry in ENTRIES if entry.name == "LDP-OBI")
CELL = SuiteCell("bandit", "bandit:0.9,0.7", OPTIMIST, 1.0, 5, 2, 10)


def test_reporting_seeds_are_nowhere_else() -> None:
    """No number of a file that git knows is one of them, but where they are declared and used."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "*.py", "*.md", "*.toml", "*.js", "*.json", "*.ipynb"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    if not listed:
        pytest.skip("not a checkout")
    ours = {"studies/suite/worlds.py", "docs/scoreboard.md", "docs/scoreboard.json"}
    for name in set(listed) - ours:
        path = ROOT / name
        for digits in re.findall(
            r"\d[\d_,]{8,}", path.read_text("utf-8") if path.is_file() else ""
        ):
            assert int(re.sub("[_,]", "", digits)) not in REPORTING, name
    declared = (ROOT / "studies/suite/worlds.py").read_text("utf-8")
    assert re.search(r"\d[\d_,]{8,}", declared), "the pattern finds them"


def test_every_seed_of_a_cell_is_for_reporting() -> None:
    cells = [cell for world in WORLDS for cell in cells_of(world)]
    for cell in cells:
        assert cell.seed in REPORTING
        if cell.source.startswith("random:"):
            assert int(cell.source.rpartition(",")[2]) in REPORTING
    assert len({cell.key for cell in cells}) == len(cells)
    per_score = {world.name: world.cells * world.runs * len(world.sources()) for world in WORLDS}
    slow = {"random-100", "grid-7", "taxi", "icu-sepsis"}
    assert all(runs >= (5 if name in slow else 20) for name, runs in per_score.items())


def test_a_digest_follows_code_and_nothing_else(tmp_path: Path) -> None:
    """Comments, docstrings and modules that are not imported do not count; code far below does."""
    shutil.copytree(SOURCE / "ldprl", tmp_path / "0" / "ldprl")
    before = digest_of(*OBI, tmp_path / "0")
    assert before == digest_of(*OBI, SOURCE)

    def after(number: int, file: str, old: str, new: str) -> str:
        folder = tmp_path / str(number)
        shutil.copytree(SOURCE / "ldprl", folder / "ldprl")
        path = folder / "ldprl" / file
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")
        return digest_of(*OBI, folder)

    first = (SOURCE / "ldprl/learning/ldp_obi.py").read_text("utf-8").splitlines()[0]
    assert after(1, "learning/ldp_obi.py", first, f'# A remark.\n"""Other.{first[3:]}') == before
    assert after(2, "learning/ldp_ts.py", "import math", "import math, os") == before
    assert after(3, "kernels/values.py", "import", "import os\nimport") != before
    assert after(4, "learning/ldp_obi.py", "    return ", "    return not ") != before


def test_the_closure_reaches_what_functions_import() -> None:
    found = closure(list(OBI))
    assert {"ldprl.kernels.values", "ldprl.mechanisms.counting", "ldprl.shape"} <= found
    assert not {name for name in found if name.startswith(("ldprl.service", "ldprl.cli"))}


def test_digests_are_found_without_loading_numba() -> None:
    code = (
        "import sys; from studies.suite.closure import digest_of\n"
        f"digest_of(*{OBI!r}); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_entry_has_a_digest() -> None:
    for entry in ENTRIES:
        for epsilon, mechanism in ((1.0, entry.private), (None, entry.open)):
            assert mechanism is None or len(code_of(entry, epsilon)) == 16


def test_users_are_counted_up_to_the_last_who_lose_more() -> None:
    users = np.array([1, 10, 100, 1000])
    lost = np.array([0.0, 0.5, 0.0, 0.1])
    regret = np.cumsum(lost * np.diff(users, prepend=0))
    assert users_before(users, regret, 0.1) == 10, "not 0: the first guess was left again"
    assert users_before(users, regret, 0.5) == 0
    assert users_before(users, regret, 0.05) is None


def test_the_bootstrap_is_the_usual_error_within_its_noise() -> None:
    """A standard deviation from 1,000 resamples is off by 2.2%; 15% is beyond 6 deviations."""
    values = np.random.default_rng(0).normal(size=200)
    usual = values.std() / np.sqrt(200)
    assert bootstrap_error([values.tolist()]) == pytest.approx(usual, rel=0.15)
    assert bootstrap_error([[one] * 3 for one in values]) == pytest.approx(usual, rel=0.15)
    assert bootstrap_error([[1.0]]) is None


def found(regret: float, share: float) -> Found:
    one = Run(regret, share, 0.5, 100, None)
    return Found((one, replace(one, regret=3 * regret)), 4.0, 0.1)


def test_what_is_kept_is_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []

    def compute(cells: list[SuiteCell], *_: object) -> object:
        for cell in cells:
            computed.append(cell.epsilon)
            yield cell, found(10.0, 0.4)

    monkeypatch.setattr("studies.suite.results._computed", compute)
    path = tmp_path / "results.jsonl"
    cells = [CELL, replace(CELL, epsilon=2.0)]
    run(cells[:1], path, 1)
    whole = path.read_text("utf-8")
    path.write_text(whole + '{"suite": 1, "cell"', "utf-8")
    run(cells, path, 1)
    assert computed == [1.0, 2.0]
    assert path.read_text("utf-8").startswith(whole)
    older = {**read(path)[CELL.key], "code": "0"}
    path.write_text(json.dumps(older) + "\n", "utf-8")
    assert not current(CELL, older)
    run(cells[:1], path, 1)
    assert computed == [1.0, 2.0, 1.0], "the code has changed"


def test_a_score_says_what_its_runs_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "studies.suite.results._computed",
        lambda cells, *_: ((cell, found(8.0 if cell.epsilon else 2.0, 0.4)) for cell in cells),
    )
    path = tmp_path / "results.jsonl"
    cells = cells_of(BANDIT, entries=[OPTIMIST])
    run(cells, path, 1)
    scores = {score.epsilon: score for score in scores_in(BANDIT, read(path))}
    private = scores[1.0]
    assert (private.mean, private.median, private.worst) == (16.0, 16.0, 24.0)
    assert (private.runs, private.expected) == (2, 100)
    assert (private.stuck, private.learnt, private.half, private.most) == (1.0, 0.4, 100, None)
    assert (private.over_bound, private.over_open) == (4.0, 4.0)
    assert scores[None].over_open is None
    assert not private.stale


def test_the_picture_compares_worlds_that_all_have_run() -> None:
    scores = [
        {"world": world, "learner": who, "recommended": who == "LDP-WAYS", "epsilon": 1.0,
         "users_share": share}
        for world, who, share in (
            ("random-5", "LDP-WAYS", 0.9), ("random-5", "LDP-OBI", 0.2), ("taxi", "LDP-WAYS", 0.1),
            ("glucose", "LDP-WAYS", 0.7),
        )
    ]  # fmt: skip
    found = shares_in_common(scores)
    assert found["recommended"] == {"size": 0.9, "sparse rewards": 0.1, "features": 0.7}
    assert found["LDP-OBI"] == {"size": 0.2}


def test_a_cell_is_the_same_again_and_another_seed_is_not() -> None:
    small = replace(CELL, users=1000)
    first = small.compute()
    assert first.runs == small.compute().runs
    assert first.runs != replace(small, seed=6).compute().runs


def agree(cell: SuiteCell, line: Line, again: Found) -> bool:
    """Whether a cell that is run again has the mean that was kept, within its standard error."""
    kept = line["runs"]["regret"]
    error = bootstrap_error([kept]) or 1e-6 * abs(kept[0])
    return abs(float(np.mean([one.regret for one in again.runs])) - float(np.mean(kept))) <= error


@pytest.mark.slow
def test_a_random_cell_is_what_was_kept() -> None:
    """Cells of the present code that take less than a minute; the seeds are the same, too."""
    lines = read(RESULTS)
    worlds = [world for world in WORLDS if available(world)]
    cells = [cell for world in worlds for cell in cells_of(world) if cell.key in lines]
    cells = [cell for cell in cells if current(cell, lines[cell.key])]
    cells = [cell for cell in cells if lines[cell.key]["seconds"] < 60]
    if not cells:
        pytest.skip("the code has changed since every cell was run")
    cell = cells[np.random.default_rng().integers(len(cells))]
    line, again = lines[cell.key], cell.compute()
    assert agree(cell, line, again), cell.key
    kept = line["runs"]["regret"]
    away = 1 + abs(kept[0]) + 5 * (bootstrap_error([kept]) or 0.0)
    far = {**line["runs"], "regret": [one + away for one in kept]}
    assert not agree(cell, {**line, "runs": far}, again), "numbers that are off are noticed"


def test_lines_are_confirmed_if_three_cells_are_the_same_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And stay of older code if one run is not."""

    class Same:
        regret = 10.0

        def __init__(self, workers: int) -> None:
            pass

        def __enter__(self) -> Same:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def compute(self, cells: list[SuiteCell]) -> object:
            return ((place, found(self.regret, 0.4)) for place, _ in enumerate(cells))

    monkeypatch.setattr("studies.suite.results.Processes", Same)
    monkeypatch.setattr(
        "studies.suite.results._computed",
        lambda cells, *_: ((cell, found(10.0, 0.4)) for cell in cells),
    )
    path = tmp_path / "results.jsonl"
    cells = [replace(CELL, world=str(number)) for number in range(5)]
    run(cells, path, 1)
    older = [{**line, "code": "0"} for line in read(path).values()]
    path.write_text("".join(json.dumps(line) + "\n" for line in older), "utf-8")
    monkeypatch.setattr(Same, "regret", 11.0)
    assert list(confirm(cells, path, 1).values()) == [False]
    assert not any(current(cell, read(path)[cell.key]) for cell in cells)
    monkeypatch.setattr(Same, "regret", 10.0)
    assert list(confirm(cells, path, 1).values()) == [True]
    lines = read(path)
    assert all(current(cell, lines[cell.key]) for cell in cells)
    assert all(len(line["confirmed"]["cells"]) == 3 for line in lines.values())
    assert not confirm(cells, path, 1)
