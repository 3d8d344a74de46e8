"""Rolling budgets hold in every stretch of time, whatever the clock says."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from ldprl import Budget, InputError, Ledger
from ldprl.client import RollingBudget
from ldprl.client import entries as module
from ldprl.client.window import DAY, Moment, age
from ldprl.mechanisms.mechanism import Guarantee

YEAR = RollingBudget(Budget(4), 365)
ONE = Guarantee(1.0, 0.0)


@dataclasses.dataclass
class Clock:
    """A clock that tests turn: ``day`` is true time, ``wrong`` how many days the wall is off."""

    day: float = 0.0
    wrong: float = 0.0
    started: float = 0.0

    def __call__(self) -> Moment:
        wall = (21_000 + self.day + self.wrong) * DAY
        return Moment(wall, (self.day - self.started) * DAY, f"start {self.started}")

    def restart(self) -> None:
        self.started = self.day


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Ledger:
    return Ledger(tmp_path / "ledger", YEAR, clock)


def pay(ledger: Ledger, deployment: str, guarantee: Guarantee = ONE) -> str:
    report_id, _ = ledger.report(deployment, guarantee, lambda: b"report", again=True)
    return report_id


def send(ledger: Ledger, deployment: str, guarantee: Guarantee = ONE) -> None:
    ledger.settle(pay(ledger, deployment, guarantee), "counted")


def test_four_a_year(ledger: Ledger, clock: Clock) -> None:
    for day in (0, 10, 20, 30):
        clock.day = day
        send(ledger, "one" if day < 15 else "two")
    clock.day = 364.9
    with pytest.raises(InputError, match=r"in any 365 days.*4 reports add up to ε = 4"):
        send(ledger, "one")
    assert ledger.left("three", ONE).days == pytest.approx(0.1)
    clock.day = 365
    send(ledger, "three")
    with pytest.raises(InputError, match="in any 365 days"):
        send(ledger, "one")
    clock.day = 385
    assert ledger.left("one", ONE).reports == 2
    assert ledger.left("one", Guarantee(0.25, 0.0)).reports == 8
    assert ledger.left("one", Guarantee(5.0, 0.0)).days is None


def test_what_is_left_is_told_before_anything_is_paid(ledger: Ledger, clock: Clock) -> None:
    assert ledger.left("one", ONE) == dataclasses.replace(
        ledger.left("two", ONE), reports=4, days=0.0
    )
    assert not ledger.path.exists()
    send(ledger, "one")
    assert [ledger.left("one", ONE).reports, ledger.left("one", ONE).counted.reports] == [3, 1]


def test_a_report_without_a_verdict_may_still_go_out(ledger: Ledger, clock: Clock) -> None:
    waiting = [pay(ledger, f"{i}") for i in range(4)]
    clock.day = 3650
    assert ledger.left("5", ONE) == dataclasses.replace(ledger.left("5", ONE), reports=0, days=None)
    ledger.settle(waiting[0], "counted")
    assert ledger.left("5", ONE).days == pytest.approx(365)
    clock.day += 365
    send(ledger, "5")


def test_a_lost_report_counts_for_ever(ledger: Ledger, clock: Clock) -> None:
    """It was drawn, and nobody knows what became of it: four of them are the whole budget."""

    def fails() -> bytes:
        raise OSError("the disk is full")

    for deployment in ("one", "one", "two", "three"):
        with pytest.raises(OSError, match="full"):
            ledger.report(deployment, ONE, fails, again=True)
    assert all(entry.lost for entry in ledger.entries())
    clock.day = 3650
    with pytest.raises(InputError, match="4 reports add up to ε = 4"):
        send(ledger, "four")


def test_a_ledger_without_times_counts_for_ever(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "old"
    line = '{"id": "0", "deployment": "old", "epsilon": "4", "delta": "0"'
    answered = f'{line}, "report": "AA=="}}\n{line}, "answer": "counted"}}\n'
    path.write_text('{"ldprl ledger": 1}\n' + line + "}\n" + answered)
    clock.day = 10_000
    assert Ledger(path, YEAR, clock).left("new", ONE).reports == 0
    assert Ledger(path, Budget(5), clock).left("new", ONE).reports == 1


def full(ledger: Ledger) -> None:
    for i in range(4):
        send(ledger, f"{i}")


def test_a_clock_put_forward_while_the_machine_runs_sets_nothing_free(
    ledger: Ledger, clock: Clock
) -> None:
    full(ledger)
    clock.day, clock.wrong = 1, 1000
    assert ledger.left("5", ONE).reports == 0
    clock.day = 365
    assert ledger.left("5", ONE).reports == 4


def test_a_clock_put_back_sets_nothing_free(ledger: Ledger, clock: Clock) -> None:
    clock.wrong = 1000
    full(ledger)
    for day, restarted in ((1, False), (500, True), (1364, True)):
        clock.day, clock.wrong = day, 0
        if restarted:
            clock.restart()
        assert ledger.left("5", ONE).reports == 0, "by the wall it is not a year ago"
    clock.day = 1365
    assert ledger.left("5", ONE).reports == 4


def test_a_clock_put_right_again_counts_what_was_free(ledger: Ledger, clock: Clock) -> None:
    """Put forward while the machine was off, it cannot be known; put right, all count again."""
    full(ledger)
    clock.day, clock.wrong = 1, 1000
    clock.restart()
    send(ledger, "5")
    clock.day, clock.wrong = 2, 0
    clock.restart()
    assert ledger.left("6", ONE).counted.reports == 5
    assert ledger.left("6", ONE).reports == 0


@pytest.mark.parametrize("date", [0, 18_000, 20_453])
def test_a_clock_that_began_at_1970_sets_nothing_free(
    ledger: Ledger, clock: Clock, date: float
) -> None:
    """A device without a battery for its clock: the network puts it right after the next start.

    18,000 days is 2019, 20,453 the last day of 2025.
    """
    clock.wrong = date - 21_000
    full(ledger)
    clock.day, clock.wrong = 1, 0
    clock.restart()
    for clock.day in (1, 400, 40_000):
        left = ledger.left("5", ONE)
        assert (left.reports, left.counted.reports, left.days) == (0, 4, None)
        with pytest.raises(InputError, match="in any 365 days"):
            send(ledger, "5")


def test_a_line_with_a_time_that_can_be_bounds_the_age_of_those_before(
    ledger: Ledger, clock: Clock
) -> None:
    """What happened before the line is at least as old as it."""
    clock.wrong = -21_000
    for name in "012":
        send(ledger, name)
    clock.day, clock.wrong = 1, 0
    clock.restart()
    send(ledger, "3")
    clock.day = 365.9
    clock.restart()
    assert ledger.left("4", ONE).counted.reports == 4
    clock.day = 366.1
    assert ledger.left("4", ONE).counted.reports == 0


def test_a_line_without_a_time_that_can_be_is_left_out(ledger: Ledger, clock: Clock) -> None:
    """It ages nothing, and keeps nothing from ageing."""
    for name in "012":
        send(ledger, name)
    clock.day, clock.wrong = 1, -21_000
    clock.restart()
    send(ledger, "3")
    clock.day, clock.wrong = 364, 0
    clock.restart()
    assert ledger.left("4", ONE).counted.reports == 4
    clock.day = 366
    assert ledger.left("4", ONE).counted.reports == 1


def test_a_clock_put_right_while_the_machine_runs_is_known(ledger: Ledger, clock: Clock) -> None:
    """The clock that runs on says how long ago it was."""
    clock.wrong = -21_000
    for name in "012":
        send(ledger, name)
    clock.day, clock.wrong = 100, 0
    send(ledger, "3")
    clock.day = 366
    clock.restart()
    assert ledger.left("4", ONE).counted.reports == 1


def test_without_a_clock_that_runs_on_the_wall_is_all_there_is() -> None:
    before, after = Moment(2e9, 0, ""), Moment(2e9 + 50, 0, "")
    assert age(0, [before], after) == 50
    assert age(0, [after], before) == 0


Events = list[tuple[float, float, Fraction]]
"""Of each report: when it was paid for, when it went out, and its ε."""


def history(ledger: Ledger, clock: Clock, rng: random.Random) -> Events:
    """Pay, send late or early, settle later still, at random, and return what went out when."""
    waiting: list[tuple[str, float, Fraction]] = []
    gone: Events = []
    for number in range(80):
        clock.day += rng.choice([0, 0.5, 7, 90])
        if rng.random() < 0.1:
            clock.restart()
        if rng.random() < 0.7:
            epsilon = rng.choice(["0.5", "1", "1.5"])
            try:
                # One deployment for each cost, since a deployment has one cost.
                name = f"{epsilon}-{number % 3}"
                report_id = pay(ledger, name, Guarantee(float(epsilon), 0.0))
            except InputError:
                continue
            waiting.append((report_id, clock.day, Fraction(epsilon)))
        if waiting and rng.random() < 0.8:
            report_id, paid, cost = waiting.pop(rng.randrange(len(waiting)))
            out = rng.uniform(paid, clock.day)
            ledger.settle(report_id, "counted")
            gone.append((paid, out, cost))
    return gone


def most_in_a_window(gone: Events, days: float) -> Fraction:
    """Return the largest cost of what went out within any closed stretch of almost ``days``."""
    outs = sorted((out, cost) for _, out, cost in gone)
    starts = [out for out, _ in outs]
    inside = 1 - 1e-9
    return max(
        sum((c for out, c in outs if start <= out <= start + days * inside), Fraction(0))
        for start in starts
    )


def run(tmp_path: Path, seed: int) -> Fraction:
    clock = Clock()
    ledger = Ledger(tmp_path / f"{seed}", YEAR, clock)
    return most_in_a_window(history(ledger, clock, random.Random(seed)), 365)


def test_no_stretch_of_a_year_costs_more_than_the_budget(tmp_path: Path) -> None:
    most = [run(tmp_path, seed) for seed in range(8)]
    assert max(most) <= 4
    assert max(most) >= Fraction(7, 2), "the budget is used"


def test_counting_from_the_payment_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a report stops to count a year after it was paid for."""
    paid_at: dict[str, float] = {}
    line: Callable[..., bytes] = module.Entry.line

    def noted(self: module.Entry, moment: Moment) -> bytes:
        paid_at.setdefault(self.report_id, moment.wall)
        return line(self, moment)

    def mutant(
        self: module.Entries, entry: module.Entry, budget: RollingBudget, now: Moment
    ) -> float:
        return budget.days - (now.wall - paid_at[entry.report_id]) / DAY

    monkeypatch.setattr(module.Entry, "line", noted)
    monkeypatch.setattr(module.Entries, "days_left", mutant)
    assert max(run(tmp_path, seed) for seed in range(8)) > 4


def test_the_filter_of_a_window_is_that_of_the_first_report_ever(
    tmp_path: Path, clock: Clock
) -> None:
    """With a δ the order of the divergences must not change as time goes by."""
    ledger = Ledger(tmp_path / "ledger", RollingBudget(Budget(4, "1e-6"), 365), clock)
    small = Guarantee(0.1, 0.0)
    fresh = ledger.left("small", small).reports
    assert fresh > 40, "more than the sum allows"
    send(ledger, "large", Guarantee(2.0, 0.0))
    clock.day = 366
    later = ledger.left("small", small)
    assert later.counted.reports == 0
    assert 40 <= later.reports < fresh


@pytest.mark.parametrize("days", [0, -1, float("nan"), float("inf")])
def test_a_stretch_of_time_is_a_number_of_days(days: float) -> None:
    with pytest.raises(InputError, match="days = "):
        RollingBudget(Budget(4), days)
