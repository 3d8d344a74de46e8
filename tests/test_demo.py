"""The demo writes its figure, and its labels do not overlap."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldprl import demo


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["demo", *arguments])
    demo.main()


def test_it_writes_the_figure_and_tells_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call(monkeypatch, "--out", str(tmp_path / "new"), "--episodes", "1e2", "--runs", "2")
    assert (tmp_path / "new" / "regret.png").read_bytes().startswith(b"\x89PNG")
    drawing = (tmp_path / "new" / "regret.svg").read_text(encoding="utf-8")
    assert "<svg" in drawing
    shown = capsys.readouterr().out
    assert str(tmp_path / "new" / "regret.png") in shown
    for entry in demo.ENTRIES:
        assert entry.label in shown


@pytest.mark.parametrize("bad", ["0", "1.5", "nan"])
def test_bad_counts_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        call(monkeypatch, "--out", str(tmp_path / "new"), "--episodes", bad)
    assert stopped.value.code == 2
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_spread_keeps_the_order_and_the_distance(heights: list[float]) -> None:
    placed = demo.spread(heights, apart=0.1)
    ranked = sorted(zip(heights, placed, strict=True))
    for (_, below), (_, above) in itertools.pairwise(ranked):
        assert above - below >= 0.1 - 1e-9


def test_spread_leaves_alone_what_does_not_touch() -> None:
    assert demo.spread([0.9, 0.1, 0.5], apart=0.2) == [0.9, 0.1, 0.5]
    assert demo.spread([0.5, 0.5], apart=0.2) == pytest.approx([0.4, 0.6])
