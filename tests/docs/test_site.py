"""The site: built with warnings as errors, no dead link, nothing fetched from elsewhere."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

from studies.suite.page import PICTURE, WORLDS_PICTURE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Elements(HTMLParser):
    """Collects links, loaded files, ids and classes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.classes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if (tag, name) in LOADED:
                self.loaded.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif name in ("id", "name"):
                self.ids.add(value)
            elif name == "class":
                self.classes.update(value.split())


@dataclass
class Site:
    """The built pages, parsed."""

    folder: Path
    pages: dict[Path, Elements] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.folder.rglob("*.html"):
            self.pages[path] = Elements(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert build.returncode == 0, build.stderr
    return Site(folder)


def dead_link(site: Site, page: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if not target.is_file():
        return True
    known = site.pages[target].ids if target in site.pages else set()
    return bool(parts.fragment) and unquote(parts.fragment) not in known


def test_every_page_is_built_and_in_the_navigation(site: Site) -> None:
    home = site.pages[site.folder / "index.html"]
    for page in DOCS.rglob("*.md"):
        built = page.relative_to(DOCS).with_suffix(".html")
        assert (site.folder / built).is_file()
        assert built.as_posix() in home.links


def test_no_link_is_dead(site: Site) -> None:
    dead = [
        f"{path.relative_to(site.folder)}: {link}"
        for path, page in site.pages.items()
        # The page for what is not found has links from the root of wherever the site is.
        if path.name != "404.html"
        for link in (*page.links, *page.loaded)
        if dead_link(site, path, link)
    ]
    assert not dead


def test_a_dead_link_would_be_noticed(site: Site) -> None:
    """The mutants: a page and a heading that are not there."""
    home = site.folder / "index.html"
    assert not dead_link(site, home, "security.html#known-limits")
    assert dead_link(site, home, "securite.html")
    assert dead_link(site, home, "security.html#unknown-limits")


def test_nothing_is_fetched_from_elsewhere(site: Site) -> None:
    for page in site.pages.values():
        assert not [address for address in page.loaded if urlsplit(address).netloc]
        # The theme would fetch a program to draw these.
        assert not page.classes & {"mermaid"}
    for sheet in site.folder.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", text)


def test_the_reference_is_filled_in(site: Site) -> None:
    shown = site.pages[site.folder / "reference" / "simulation.html"].ids
    assert "ldprl.simulation.engine.simulate" in shown


def test_everybody_can_read_it(site: Site, checker: ModuleType) -> None:
    assert checker.check(site.folder) == []


@pytest.fixture(scope="module")
def checker() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "tools")
        yield importlib.import_module("check_site")


GOOD = (
    '<html lang="en"><title>T</title><h1 id="top">A</h1><h2>B</h2><img src="a" alt="words">'
    '<label for="x">Name</label><input id="x"><a href="#top">up</a></html>'
)


@pytest.mark.parametrize(
    ("instead", "of", "fault"),
    [
        ("", ' lang="en"', "no language"),
        ("", "T<", "no title"),
        ('alt=""', 'alt="words"', "picture a has no text"),
        ("", ' for="x"', "control x has no name"),
        ("><", ">up<", "link to #top has no words"),
        ("h3>", "h2>", "a level of headings is left out: (1, 3)"),
        ("h1>", "h2>", "first headings: 2"),
    ],
)
def test_what_keeps_people_from_reading_is_noticed(
    checker: ModuleType, instead: str, of: str, fault: str
) -> None:
    assert checker.faults_of(checker.Page(GOOD)) == []
    bad = GOOD.replace(of, instead if of != "T<" else "<")
    (found,) = checker.faults_of(checker.Page(bad))
    assert found.startswith(fault)


def test_contrast_is_that_of_the_guideline(checker: ModuleType) -> None:
    """Black has 21 and white 1; #767676 is the lightest grey for text."""
    assert checker.contrast("#000000") == pytest.approx(21)
    assert checker.contrast("#ffffff") == pytest.approx(1)
    assert checker.contrast("#767676") == pytest.approx(4.54, abs=0.01)


@pytest.mark.slow
def test_pictures_are_drawn_by_a_program(tmp_path: Path) -> None:
    draw = [sys.executable, str(DOCS / "tools" / "draw.py"), str(tmp_path)]
    subprocess.run(draw, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, check=True)
    # This one shows a long measurement, whose figures are kept beside it.
    figures, picture = DOCS / "images" / "soak.json", tmp_path / "soak.svg"
    again = ["-m", "benchmarks.soak", "--from", str(figures), "--out", str(picture)]
    subprocess.run([sys.executable, *again], cwd=ROOT, check=True)
    scoreboard = {Path(name).name for name in (PICTURE, WORLDS_PICTURE)}  # python -m studies.suite
    kept = {path.name for path in (DOCS / "images").glob("*.svg")} - scoreboard | {"any-policy.png"}
    assert {path.name for path in tmp_path.iterdir()} == kept
