"""Progress in a log: early, sparse, and with a time left that comes true."""

from __future__ import annotations

import re

import pytest

from ldprl.cli.progress import Lines


def printed(capsys: pytest.CaptureFixture[str]) -> list[tuple[float, float]]:
    """Return (seconds since the start, seconds said to be left) of every line."""
    found = re.findall(r"^ *(\d+) s .*?about (\d+) s left$", capsys.readouterr().err, re.MULTILINE)
    return [(float(spent), float(left)) for spent, left in found]


def test_a_moment_is_not_worth_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    lines = Lines("cells", lambda: now)
    for done in range(11):
        now = 0.05 * done
        lines(done, 10)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("found", [0, 400])
def test_the_time_left_comes_true_and_a_day_is_a_short_log(
    capsys: pytest.CaptureFixture[str], found: int
) -> None:
    now = 0.0
    lines = Lines("cells", lambda: now)
    total = 1000
    for done in range(found, total + 1):
        now = 90.0 * (done - found)
        lines(done, total)
    said = printed(capsys)
    assert 5 < len(said) < 40
    for spent, left in said:
        assert spent + left == pytest.approx(now, rel=0.01)


def test_the_time_left_follows_the_pace(capsys: pytest.CaptureFixture[str]) -> None:
    """Compiling comes first; then episodes take three times as long from a fifth of them on."""
    now = 0.0
    lines = Lines("users", lambda: now)
    now, total = 60.0, 10_000
    for done in range(100, total + 1):
        now += 0.03 if done > total / 5 else 0.01
        lines(done, total)
    said = [(spent, left) for spent, left in printed(capsys) if spent > 140]
    assert len(said) > 2
    for spent, left in said:
        assert spent + left == pytest.approx(now, rel=0.02)


def test_a_least_time_is_said_from_a_second_on(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    lines = Lines("simulations", lambda: now)
    for now, left in ((2.0, 0.0), (8.0, 3.2), (20.0, 0.4)):
        lines(round(now), 30, left)
    said = capsys.readouterr().err.splitlines()
    assert [line.partition("simulations")[2] for line in said] == ["", ", at least 3 s left", ""]


def test_the_first_line_comes_within_two_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    lines = Lines("reports", lambda: now)
    for tick in range(21):
        now = 0.1 * tick
        lines(tick, 10**6)
    assert printed(capsys)[0][0] <= 2
