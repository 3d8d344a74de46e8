"""``ldprl reproduce beyond``: what is computed from curves, and all of it at a small size."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from ldprl.catalogue import LEARNERS, MECHANISMS
from ldprl.experiments.cells import Cell
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.mdp import random_mdp
from ldprl.paper.beyond.ablation import VARIANTS, AllExplore, AllExploreOn, Unasked, Unweighted
from ldprl.paper.beyond.contenders import (
    NOISELESS,
    OPEN,
    OPTIMIST,
    PRIVATE,
    REFERENCE,
    SAMPLER,
    Contender,
)
from ldprl.paper.beyond.findings import findings, luck
from ldprl.paper.beyond.measures import ABLATION, Results, best, spread_of, users_needed
from ldprl.paper.beyond.sweep import LARGER, cells, draws
from ldprl.paper.beyond.verdicts import AIMS, LARGER_AIM, verdicts
from ldprl.paper.common.curves import Curve
from ldprl.paper.common.laboratory import Laboratory
from ldprl.paper.common.settings import EPSILONS, Settings
from ldprl.paper.common.style import _RULES
from ldprl.paper.reproduce import BEYOND, reproduce
from ldprl.privacy.subset_selection import SubsetSelection
from ldprl.simulation.engine import simulate
from ldprl.statistics import Statistics
from tests.cli.conftest import Run, run
from tests.paper import fake

__all__ = ["run"]  # a fixture that tests ask for by name

SMALL = Settings(episodes=8, runs=1, draws=2, epsilons=(2.0,))
PLACES = ("random:2,2,2,0", "random:2,2,2,1")
Final = Callable[[Contender | str, float, str], float]


def _curve(place: str, one: Contender | str, epsilon: float, final: float, users: int) -> Curve:
    """Return a curve that ends at ``final`` and had all of it after the first hundredth."""
    named: dict[str, Any] = {"learner": one}
    if isinstance(one, Contender):
        named = {name: getattr(one, name) for name in ("learner", "mechanism", "constants")}
    made = replace(fake.curve(**named), environment=place, epsilon=epsilon)
    episodes = np.array([users // 100, users])
    return replace(made, episodes=episodes, regret=np.array([[final, final]]))


def _results(final: Final, users: int = 10**8) -> Results:
    private: list[Contender | str] = [
        *PRIVATE,
        *(name for name in ABLATION.values() if isinstance(name, str)),
    ]
    curves = [
        *(
            _curve(place, one, epsilon, final(one, epsilon, place), users)
            for place in (*PLACES, *LARGER, "hard-tree:5,2,6,100,2, last pair")
            for one in private
            for epsilon in EPSILONS
        ),
        *(
            _curve(place, one, math.inf, final(one, math.inf, place), users)
            for place in (*PLACES, *LARGER)
            for one in OPEN
        ),
    ]
    return Results(fake.table(curves))


def test_ratios_are_geometric_means_over_draws() -> None:
    def final(one: Contender | str, _: float, place: str) -> float:
        if one == REFERENCE:
            return 1e6
        return 10.0 if place == PLACES[0] else 1000.0

    spread = spread_of(_results(final).ratios(OPTIMIST, 2.0, 10**8))
    assert (spread.mean, spread.least, spread.most) == pytest.approx((1e4, 1e3, 1e5))
    assert spread.factor == pytest.approx(10)


def test_luck_counts_as_one_unit_of_reward() -> None:
    results = _results(lambda one, *_: 5000.0 if one == REFERENCE else 0.0)
    assert results.ratios(SAMPLER, 2.0, 10**8) == pytest.approx([5000.0, 5000.0])
    assert "LDP-EVI, subset selection in 2 of 2 (no others)" in luck(results)
    half = _results(
        lambda one, _, place: 5000.0 if one == REFERENCE else 5.0 * (place == PLACES[0])
    )
    assert "LDP-EVI, subset selection in 1 of 2 (1,000 over the others)" in luck(half)


def _at_aim(factor: float) -> Final:
    """Return regrets that reach every aim ``factor`` times over, whatever the number of users."""

    def final(one: Contender | str, epsilon: float, place: str) -> float:
        if one == REFERENCE:
            return 1e9
        if one == NOISELESS:
            return 1e6
        if not isinstance(one, Contender) or one not in (OPTIMIST, SAMPLER):
            return 1e7
        if place in LARGER:
            return 1e6 / (factor * LARGER_AIM)
        most = max(by[epsilon] for (who, _), by in AIMS.items() if who == one)
        return 1e9 / (factor * most)

    return final


def test_aims_are_computed_both_ways() -> None:
    assert all(verdict.met for verdict in verdicts(_results(_at_aim(1.01))))
    missed = [verdict for verdict in verdicts(_results(_at_aim(0.99))) if not verdict.met]
    # The aims for fewer users are lower, and reached where those for more are nearly.
    assert len(missed) == 10
    assert verdicts(_results(_at_aim(1.0), users=1000)) == []


@pytest.mark.parametrize(
    ("factor", "said"), [(1.01, "All of 13 aims are reached."), (0.99, "Not reached: LDP-EVI")]
)
def test_what_is_said_of_aims(factor: float, said: str) -> None:
    found = findings(_table(_at_aim(factor)))
    assert any(said in sentence for sentence in found.sentences)


def _table(final: Final) -> Any:
    results = _results(final)
    return fake.table([*results.draws, *results.larger, *results.tree])


def test_the_accountant_is_asked() -> None:
    said = " ".join(findings(_table(_at_aim(1.0))).sentences)
    # Lap(6H/ε) where (6H − 2)/ε would do: 10/12 of ε at H = 2, and the accountant rounds up.
    spent = re.search(r"at most ([\d.]+)% of ε for LDP-OBI, .* and 100% of ε for LDP-EVI", said)
    assert spent is not None
    assert 100 * 10 / 12 <= float(spent[1]) + 0.05 < 83.6
    assert "nobody spends more than claimed" in said


def test_users_needed_is_the_end_of_the_last_bad_stretch() -> None:
    place = PLACES[0]
    most = 0.05 * best(place)
    episodes = np.array([1, 10, 100, 1000])
    rates = np.array([most / 2, 2 * most, 0.0, most / 2])
    regret = np.cumsum(rates * np.diff(episodes, prepend=0))
    one = replace(fake.curve(), environment=place, episodes=episodes, regret=regret[None])
    assert users_needed(one) == 10
    worse = replace(one, regret=regret[None] + np.array([[0, 0, 0, 900 * most]]))
    assert users_needed(worse) == math.inf
    assert users_needed(replace(one, regret=np.zeros((1, 4)))) == 1


def test_contenders_are_in_the_catalogue() -> None:
    for one in (*PRIVATE, *OPEN):
        assert one.learner in LEARNERS
        assert one.mechanism in MECHANISMS
    names = [one.name for one in (*PRIVATE, *OPEN)]
    assert len(set(names)) == len(names)


def test_cells_are_all_different_and_of_the_first_draws() -> None:
    found = cells(SMALL)
    assert len({cell.identity for cell in found}) == len(found)
    assert [place.name for place in draws(SMALL)] == list(PLACES)
    assert {cell.failure_probability for cell in found} == {0.1}
    assert {cell.replan for cell in found} == {"growth:0.01"}


def _evi_plan(kind: type[LDPEVI], statistics: Statistics, epsilon: float = 2.0) -> Any:
    learner = kind(SubsetSelection(statistics.shape, epsilon))
    return learner.plan(statistics, np.random.default_rng(0))


@pytest.fixture(scope="module")
def known() -> Statistics:
    """Return sums at which LDP-EVI lets only some explore, with unequal weights."""
    mdp = random_mdp(2, 2, 2, 1039)
    mechanism = SubsetSelection(mdp.shape, 2.0)
    (found,) = simulate(mdp, LDPEVI(mechanism), mechanism, 300).statistics
    return found


def test_each_variant_leaves_out_what_it_says(known: Statistics) -> None:
    whole = _evi_plan(LDPEVI, known)
    unweighted = _evi_plan(Unweighted, known)
    assert any((one.question.weights != 1).any() for one in whole)
    assert all((one.question.weights == 1).all() for one in unweighted)
    for one, other in zip(whole, unweighted, strict=True):
        assert one.share == other.share
        np.testing.assert_array_equal(one.policy, other.policy)

    exploring, on = _evi_plan(AllExplore, known), _evi_plan(AllExploreOn, known)
    asking = SubsetSelection(known.shape, 2.0)
    alike: Any = asking.ask(LDPEVI(Unasked(known.shape, 2.0)).plan(known, np.random.default_rng(0)))
    groups = [
        {one.policy.tobytes() for one in alike if (one.question.kind, one.question.step) == asked}
        for asked in asking.questions()
    ]
    assert all(group == groups[0] for group in groups)

    (optimistic,) = {one.policy.tobytes(): one.policy for one in on}.values()

    def explore(plan: Any) -> list[bool]:
        """Return whether each assignment is optimistic up to the step that it asks about."""
        asked = [one.question.step + 1 for one in plan]
        return [
            bool((one.policy[:h] == optimistic[:h]).all())
            for one, h in zip(plan, asked, strict=True)
        ]

    assert not all(explore(whole))
    assert all(explore(exploring))
    assert any((one.policy != optimistic).any() for one in exploring)
    for plan in (exploring, on):
        assert sum(one.share for one in plan) == pytest.approx(1)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_runs(name: str) -> None:
    mdp = random_mdp(2, 2, 2, 1000)
    mechanism, make = VARIANTS[name]
    learner, built = make(mdp.shape, 2.0, 0.1)
    assert built.name == mechanism
    assert built.guarantee.epsilon == 2.0
    (regret,) = simulate(mdp, learner, built, 50).curves
    assert np.isfinite(regret).all()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the figure, made in this process so that no other has to start."""
    out = tmp_path_factory.mktemp("beyond") / "all"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Laboratory, "simulate", _simulate_here)
        patch.setitem(_RULES, "savefig.dpi", 30)
        for place in ("grid:5,5,10", "random:10,3,5,0"):
            patch.delitem(LARGER, place)
        reproduce([BEYOND], SMALL, out, workers=1)
    return out


def _simulate_here(self: Any, todo: Sequence[Cell], workers: int, done: Any) -> None:
    for cell in todo:
        simulation = cell.compute()
        self._store.save(cell, simulation)
        done(cell, simulation)


def test_all_is_written(made: Path) -> None:
    assert pq.read_table(made / "data" / "beyond.parquet").num_rows > 0
    ends = ("", "-epsilons", "-larger", "-price", "-users", "-ablation", "-tree")
    for end, kind in itertools.product(ends, ("png", "svg")):
        assert (made / "pictures" / f"beyond{end}.{kind}").stat().st_size > 0
    report = (made / "report.html").read_text()
    assert "beyond the paper</title>" in report
    assert '<section id="beyond">' in report
    assert "Settings</h2>" not in report  # that is about the paper's figures
    tables = (made / "tables" / "beyond.md").read_text()
    for one in (*PRIVATE, *OPEN):
        assert f"| {one.name} | " in tables


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--epsilons 2", "epsilons = '2'"),
        ("regret --epsilons 2", "epsilons = '2'"),
        ("beyond --epsilons 2,x", "epsilons = 'x'"),
        ("beyond --epsilons 0", "epsilons = 0"),
        ("beyond regret --draws 3", "draws = '3'"),
    ],
)
def test_the_command_refuses_bad_input(run: Run, tmp_path: Path, line: str, message: str) -> None:
    found = run(f"reproduce {line} --out", str(tmp_path / "x"))
    assert found.code == 2
    assert message in found.err
    assert not (tmp_path / "x").exists()


def test_the_command_takes_fewer_draws_and_epsilons(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Settings] = []

    def make(names: Sequence[str], settings: Settings, *_: Any, **__: Any) -> Path:
        assert names == [BEYOND]
        asked.append(settings)
        return tmp_path

    monkeypatch.setattr("ldprl.paper.reproduce.reproduce", make)
    run("reproduce beyond --draws 3 --epsilons 20,2 --out", str(tmp_path / "x"))
    run("reproduce beyond --out", str(tmp_path / "x"))
    few, default = asked
    assert (few.draws, few.runs, few.epsilons) == (3, 1, (2.0, 20.0))
    assert (default.draws, default.runs, default.epsilons) == (20, 1, Settings().epsilons)
