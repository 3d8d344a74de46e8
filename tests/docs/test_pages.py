"""What the pages print is true: their code runs in order, and their links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from ldprl.cli import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {str(path.relative_to(DOCS)): path for path in sorted(DOCS.rglob("*.md"))}
WRITTEN = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
TITLE = r'(?: title="([^"]+)")?'
FENCE = re.compile(rf"^```(\w*){TITLE}\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the ``text`` block right after it, which is what it prints.

    A title is the name of the file that the block is; files of data are there when code runs.
    """

    language: str
    title: str | None
    code: str
    line: int
    printed: str | None


def blocks(text: str) -> list[Block]:
    fences = list(FENCE.finditer(text))
    found = []
    for fence, after in zip_longest(fences, fences[1:]):
        follows = after is not None and not text[fence.end() : after.start()].strip()
        output = after[3] if follows and after[1] == "text" else None
        line = text[: fence.start()].count("\n") + 1
        found.append(Block(fence[1], fence[2], fence[3], line, output))
    return found


def run(block: Block, file: str, namespace: dict[str, Any]) -> str:
    """Execute Python and return what it prints; an error's line is that of the page."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * block.line + block.code, file, "exec"), namespace)
    return out.getvalue()


def write_files(page: str, folder: Path) -> None:
    """Write the files that the page shows."""
    for block in blocks(page):
        if block.title and block.language in ("json", "toml"):
            (folder / Path(block.title).name).write_text(block.code, encoding="utf-8")


SLOW = (
    "advise.md",
    "beyond.md",
    "findings.md",
    "how-to/cluster.md",
    "how-to/own-learner.md",
    "paper-in-code.md",
    "reference/experiments.md",
    "walk.md",
)
"""Pages whose code simulates for seconds, most of them to compile."""


def with_code(*languages: str) -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name, text in WRITTEN.items()
        if any(block.language in languages for block in blocks(text))
    ]


@pytest.mark.parametrize("name", with_code("python"))
@pytest.mark.filterwarnings("ignore::ldprl.PrivacyWarning")
def test_python_prints_what_the_page_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(WRITTEN[name], tmp_path)
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks(WRITTEN[name]):
        if block.language != "python":
            continue
        out = run(block, str(PAGES[name]), namespace)
        assert out == (block.printed or ""), f"{name}, line {block.line}"


@pytest.mark.parametrize("name", with_code("bash", "console"))
def test_commands_do_what_the_page_says(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command succeeds unless a comment says ``# exits N``; lines below it are in its output."""
    monkeypatch.chdir(tmp_path)
    write_files(WRITTEN[name], tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    for block in blocks(WRITTEN[name]):
        if block.language not in ("bash", "console"):
            continue
        output = ""
        for line in block.code.replace("\\\n", " ").splitlines():
            if not line.startswith("ldprl"):
                continue
            monkeypatch.setattr("sys.argv", shlex.split(line, comments=True))
            with pytest.raises(SystemExit) as stopped:
                main()
            output += capsys.readouterr().out
            expected = re.search(r"# exits (\d+)", line)
            assert stopped.value.code == (int(expected[1]) if expected else 0), line
        for printed in (block.printed or "").splitlines():
            assert printed in output


@pytest.mark.parametrize("name", PAGES)
def test_relative_links_lead_somewhere(name: str) -> None:
    here = PAGES[name].parent
    for link in LINK.findall(FENCE.sub("", WRITTEN[name])):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            assert not anchor, f"{name}: {link} (headings are spelt differently by each renderer)"
            assert (here / path).exists(), f"{name}: {link}"


def test_every_page_is_on_the_map() -> None:
    listed = set(LINK.findall(WRITTEN["index.md"]))
    assert set(PAGES) - {"index.md"} <= listed


def test_one_page_for_each_mechanism() -> None:
    from ldprl.mechanisms.by_name import MECHANISMS

    assert {f"mechanisms/{name}.md" for name in MECHANISMS} <= set(PAGES)


def test_the_example_of_a_mechanism_has_at_most_forty_lines() -> None:
    code = next(b.code for b in blocks(WRITTEN["how-to/own-mechanism.md"]) if "class " in b.code)
    assert len(code[code.index("class ") :].rstrip().splitlines()) <= 40


def test_a_wrong_figure_would_be_noticed() -> None:
    """The mutant: a page whose printed figure is off by one digit does not pass."""
    text = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    block, _ = blocks(text)
    assert run(block, "a page", {}) == "2\n"
    assert block.printed == "3\n"
