"""Every number of a table of results has data behind it, and data of the code as it is.

Tables that are made of data are made again and compared, so a number that was edited, a result
that is newer than its page and a learner whose code has changed since are all noticed. Beside those
a page with results has tables of formulas and of words alone.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from studies import pages
from studies.suite import page, results
from studies.suite.closure import code_of
from studies.suite.measures import scores_in
from studies.suite.worlds import WORLDS

ROOT = Path(__file__).parents[2]
NOTES = {"docs/what-was-tried.md", "studies/constants.md"}
"""These have notes beside results, and say so."""
MADE = sorted(
    {
        "README.md",
        "docs/policy-aware.md",
        *(f"docs/mechanisms/{path.name}" for path in (ROOT / "docs/mechanisms").glob("*.md")),
        *pages.PAGES,
    }
    - NOTES
)
"""Pages whose tables are made of data, if they say what a simulation found."""
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def measured(table: str) -> bool:
    """Whether a table has errors, or numbers below a head that speaks of regrets or runs."""
    head, _, *rows = table.splitlines()
    numbers = re.search(r"\| *[\d,.]+(·10\S+)? *\|", "\n".join(rows))
    told = re.search(r"\b(regret|worst|runs|learnt)\b", head)
    return bool(re.search(r"± ?\d", table) or (told and numbers))


def test_every_table_is_what_the_data_say() -> None:
    for name, text in pages.texts().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"python -m studies.pages: {name}"


def test_the_scoreboard_is_what_the_results_and_the_code_say() -> None:
    for name, text in page.texts(results.read(results.RESULTS)).items():
        kept = (page.DOCS / name).read_text(encoding="utf-8")
        assert kept == text, f"python -m studies.suite --page: {name}"


@pytest.mark.parametrize("name", MADE)
def test_what_was_measured_is_made_of_data(name: str) -> None:
    """A table outside of the blocks that says regrets or errors was written by hand."""
    text = pages.BLOCK.sub("", (ROOT / name).read_text(encoding="utf-8"))
    assert not [table[0] for table in TABLE.finditer(text) if measured(table[0])]


def test_a_planted_number_is_noticed() -> None:
    """In a cell that the data fill, in a table written by hand, and in what is said to make it."""
    text = (ROOT / "docs/any-policy.md").read_text(encoding="utf-8")
    made = {name: pages.tables()[name]() for name in pages.names_on(text)}
    assert pages.written(text, made) == text
    for old, new in (
        ("| 0.905 ± 0.004 |", "| 0.915 ± 0.004 |"),
        ("; commit ", "; commit 0123456789, "),
        ("any-policy --out OUT`; commit", "any-policy --quick --out OUT`; commit"),
    ):
        assert old in text
        stale = text.replace(old, new, 1)
        assert pages.written(stale, made) == text != stale
    for cell in ("216,000 ± 49,200", "216,000", "3.0·10⁶"):
        assert measured(f"| problem | regret |\n|---|---|\n| grid 5×5 | {cell} |\n")
    assert not measured("| | setting | regret |\n|---|---|---|\n| LDP-OBI | ε-LDP | Õ(√K) |\n")


def test_numbers_of_older_code_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page would change, and the test above fail, once a learner's code does."""
    lines = results.read(results.RESULTS)
    world = next(world for world in WORLDS if scores_in(world, lines))
    before = scores_in(world, lines)
    entry = before[0].learner
    monkeypatch.setattr(
        "studies.suite.results.code_of",
        lambda who, epsilon: "changed" if who.name == entry else code_of(who, epsilon),
    )
    after = scores_in(world, lines)
    assert all(one.stale for one in after if one.learner == entry)
    assert [one for one in after if one.learner != entry] == [
        one for one in before if one.learner != entry
    ]
    assert any("†" in cell for one in after for cell in page.row(one))


def test_the_index_names_page_command_and_commit_of_each_table() -> None:
    index = json.loads((ROOT / pages.INDEX).read_text(encoding="utf-8"))
    for table in index:
        assert table["table"] in pages.names_on((ROOT / table["page"]).read_text(encoding="utf-8"))
        assert table["command"].startswith(("python -m studies", "ldprl "))
        assert all(re.fullmatch(r"[0-9a-f]{10}", commit) for commit in table["commits"])
        assert table["commits"]
        assert table["rows"]
