"""The report as one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ldprl.figures.figure import Chapter, Grid

_STYLE = """
:root { color-scheme: light; --ink: #1b1b1b; --quiet: #666; --line: #e3e3e3; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink);
  font: 17px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 48px 28px 96px; }
h1 { font-size: 34px; line-height: 1.2; margin: 0 0 12px; letter-spacing: -0.01em; }
h2 { font-size: 25px; line-height: 1.25; margin: 0; }
h3 { font-size: 16px; margin: 28px 0 6px; }
p, li { max-width: 76ch; }
.lead { font-size: 20px; color: #333; margin: 0 0 28px; }
.place { color: var(--quiet); font-size: 14px; margin: 0 0 2px; }
.question { color: #333; font-style: italic; margin: 4px 0 14px; }
section { border-top: 1px solid var(--line); margin-top: 56px; padding-top: 28px; }
.short { background: #f5f8fb; border-left: 4px solid var(--accent); padding: 16px 24px 10px; }
.short h2 { font-size: 19px; margin-bottom: 6px; }
.short li { margin-bottom: 6px; }
ul { padding-left: 22px; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 3px; }
figure { margin: 18px 0 22px; }
figure img { width: 100%; height: auto; display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
td:first-child { white-space: nowrap; }
th, td { text-align: left; padding: 5px 18px 5px 0; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; vertical-align: bottom; }
details { margin: 14px 0; }
summary { cursor: pointer; color: var(--quiet); font-size: 15px; }
sup, sub { line-height: 0; }
code { font: 0.88em ui-monospace, SFMono-Regular, Menlo, monospace; }
@media print { section { break-inside: avoid; } }
"""


def page(title: str, parts: Sequence[str]) -> str:
    """Return a whole document."""
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def opening(title: str, lead: str) -> str:
    """Return the report's head."""
    return f'<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>'


def in_short(chapters: Sequence[Chapter]) -> str:
    """Return the box of conclusions: the first sentence of every chapter."""
    items = "\n".join(
        f'<li><a href="#{escape(chapter.name)}">{escape(chapter.figure.title)}</a>.'
        f" {prose(chapter.findings.sentences[0])}</li>"
        for chapter in chapters
    )
    return f'<div class="short"><h2>In short</h2>\n<ul>\n{items}\n</ul></div>'


def section(chapter: Chapter) -> str:
    """Return a figure's section: its question, its pictures and its findings."""
    figure, findings = chapter.figure, chapter.findings
    images = "\n".join(f"<figure>{_image(path)}</figure>" for path in chapter.pictures)
    items = "\n".join(f"<li>{prose(sentence)}</li>" for sentence in findings.sentences)
    grids = "\n".join(
        f"<details{'' if grid.folded else ' open'}><summary>{escape(grid.title)}</summary>\n"
        f"{table(grid)}\n</details>"
        for grid in findings.grids
    )
    return (
        f'<section id="{escape(chapter.name)}">\n<p class="place">{escape(figure.place)}</p>\n'
        f"<h2>{escape(figure.title)}</h2>\n"
        f'<p class="question">{escape(figure.question)}</p>\n{images}\n'
        f"<ul>\n{items}\n</ul>\n{grids}\n"
        f'<p class="place">Data: <code>{escape(chapter.data)}</code></p>\n</section>'
    )


def appendix(name: str, title: str, text: str, grid: Grid) -> str:
    """Return a section with a table alone."""
    return (
        f'<section id="{escape(name)}">\n<h2>{escape(title)}</h2>\n<p>{escape(text)}</p>\n'
        f"{table(grid)}\n</section>"
    )


def table(grid: Grid) -> str:
    """Return ``grid`` as an HTML table."""
    heads = "".join(f"<th>{prose(head)}</th>" for head in grid.heads)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{prose(cell)}</td>" for cell in row) + "</tr>" for row in grid.rows
    )
    return f'<div class="scroll"><table>\n<tr>{heads}</tr>\n{rows}\n</table></div>'


def markdown(grids: Sequence[Grid]) -> str:
    """Return ``grids`` as Markdown."""
    parts = []
    for grid in grids:
        lines = [grid.heads, ["---"] * len(grid.heads), *grid.rows]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        parts.append(f"### {grid.title}\n\n{body}\n" if grid.title else f"{body}\n")
    return "\n".join(parts)


def prose(text: str) -> str:
    """Return ``text`` as HTML, with k^2, e^{ε/H} and μ_{R} set as they should be."""
    raised = re.sub(r"\^(?:\{([^}]*)\}|([\d.]*\d))", r"<sup>\1\2</sup>", escape(text))
    return re.sub(r"_\{([^}]*)\}", r"<sub>\1</sub>", raised)


def _image(path: Path) -> str:
    """Return a picture that travels inside the page."""
    code = base64.b64encode(path.read_bytes()).decode()
    text = escape(path.stem.replace("-", " "))
    return f'<img alt="{text}" src="data:image/svg+xml;base64,{code}">'
