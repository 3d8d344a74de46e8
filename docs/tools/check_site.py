"""Check the built site for what a reader trips over: ``make docs`` runs it.

Accessibility (WCAG 2.1): every page has a language and a title, one first heading and no level left
out below it; pictures have a text, controls a name, links words; colours of pictures stand out from
white. Links inside the site lead somewhere. Words of the pages are checked by codespell where it is
installed.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).parents[1]
PROSE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs"]
_TEXT, _GRAPHIC = 4.5, 3.0
"""Least contrast with white, of text and of lines (success criteria 1.4.3 and 1.4.11)."""


class Page(HTMLParser):
    """What a page has, as far as it is checked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.language = self.title = ""
        self.headings: list[int] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.faults: list[str] = []
        self._labelled: set[str] = set()
        self._inputs: list[dict[str, str | None]] = []
        self._link: list[str] | None = None
        self._within: str | None = None
        self.feed(text)
        self.close()
        for one in self._inputs:
            if not (one.get("aria-label") or one.get("title") or one.get("id") in self._labelled):
                self.faults.append(f"control {one.get('id') or one} has no name")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what matters of an element."""
        has = dict(attrs)
        if has.get("id"):
            self.ids.add(str(has["id"]))
        if tag == "html":
            self.language = has.get("lang") or ""
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.headings.append(int(tag[1]))
        elif tag == "img" and not (has.get("alt") or "").strip():
            self.faults.append(f"picture {has.get('src')} has no text")
            self._read_words("picture")
        elif tag == "label":
            self._labelled.add(has.get("for") or "")
        elif tag in ("input", "select", "textarea") and not _hidden(has):
            self._inputs.append(has)
        if tag in ("img", "svg") or has.get("aria-label") or has.get("title"):
            self._read_words(has.get("alt") or has.get("aria-label") or has.get("title") or "icon")
        if tag == "a" and has.get("href"):
            self.links.append(str(has["href"]))
            self._link = [has.get("aria-label") or has.get("title") or ""]
        self._within = tag

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a link."""
        if tag == "a" and self._link is not None:
            if not "".join(self._link).strip():
                self.faults.append(f"link to {self.links[-1]} has no words")
            self._link = None
        self._within = None

    def handle_data(self, data: str) -> None:
        """Note words."""
        if self._within == "title":
            self.title += data
        self._read_words(data)

    def _read_words(self, words: str) -> None:
        if self._link is not None:
            self._link.append(words)


def _hidden(has: dict[str, str | None]) -> bool:
    """Whether readers never meet a control: hidden, or a switch of the theme behind a label."""
    return has.get("type") in ("hidden", "checkbox", "radio")


def faults_of(page: Page, *, reference: bool = False) -> list[str]:
    """Return what is wrong with a page by itself; generated pages may leave out a level."""
    found = list(page.faults)
    if not page.language:
        found.append("no language")
    if not page.title.strip():
        found.append("no title")
    if page.headings.count(1) != 1 or page.headings[:1] != [1]:
        found.append(f"first headings: {page.headings.count(1)}, expected one at the top")
    jumps = [pair for pair in pairwise(page.headings) if pair[1] > pair[0] + 1]
    if jumps and not reference:
        found.append(f"a level of headings is left out: {jumps[0]}")
    return found


def dead_links(pages: dict[Path, Page]) -> list[str]:
    """Return links inside the site that lead nowhere."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].ids | {""} if target in pages else None
            if not target.is_file() or (known is not None and unquote(parts.fragment) not in known):
                found.append(f"{path.name}: dead link {link}")
    return found


def contrast(colour: str) -> float:
    """Return the contrast of ``#rrggbb`` with white: (1 + 0.05)/(luminance + 0.05)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 1.05 / (luminance + 0.05)


def pale_colours() -> list[str]:
    """Return the colours of text and of lines in our pictures that do not stand out from white."""
    from ldprl.catalogue import LEARNERS  # noqa: PLC0415
    from ldprl.figures.drawing import INK, QUIET  # noqa: PLC0415
    from ldprl.mechanisms.by_name import MECHANISMS  # noqa: PLC0415

    colours = [("ink", INK, _TEXT), ("quiet text", QUIET, _TEXT)]
    for kind in (*LEARNERS.values(), *MECHANISMS.values()):
        colours.append((kind.title, kind.colour, _GRAPHIC))
    return [
        f"{name} {colour} has a contrast of {contrast(colour):.2f}, expected {least:g}"
        for name, colour, least in colours
        if contrast(colour) < least
    ]


def check(site: Path) -> list[str]:
    """Return everything that is wrong with a built site."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
    }
    found = []
    for path, page in pages.items():
        place = path.relative_to(site.resolve())
        generated = place.parts[0] in ("reference", "source")
        found += [f"{place}: {fault}" for fault in faults_of(page, reference=generated)]
    return found + dead_links(pages) + pale_colours()


def misspelt() -> list[str]:
    """Return what codespell finds in the pages; nothing where it is not installed."""
    if importlib.util.find_spec("codespell_lib") is None:
        print("spelling is not checked: pip install codespell", file=sys.stderr)
        return []
    line = [sys.executable, "-m", "codespell_lib", "--skip", "*.svg,*.png,*.json", *PROSE]
    done = subprocess.run(line, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def main() -> None:
    """Check the folder that is named, by default ``site``; exit with 1 if anything is wrong."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent / "site")
    found = check(site) + misspelt()
    for fault in found:
        print(fault)
    print(f"{len(found)} faults in {sum(1 for _ in site.rglob('*.html'))} pages", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
