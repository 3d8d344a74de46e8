"""A page for each file that pages link to outside ``docs/``: the site needs no other host.

In the repository such a link leads to the file itself, on the site to a page that shows it.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINK = re.compile(r"\]\(([^)\s:#]+)\)")
FOLDER = "source"
HIDDEN = "---\nsearch:\n  exclude: true\n---\n\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file outside that a page links to, and for what those pages link to."""
    root = Path(config.config_file_path).parent
    waiting = [(place(file.src_uri), file.content_string) for file in files.documentation_pages()]
    shown: set[str] = set()
    while waiting:
        here, text = waiting.pop()
        for target in outside(here, text):
            if target in shown or not (root / target).is_file():
                continue
            shown.add(target)
            content = (root / target).read_text(encoding="utf-8")
            if target.endswith(".md"):
                waiting.append((target, content))
            page = HIDDEN + as_markdown(target, content)
            files.append(File.generated(config, page_of(target), content=page))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to files outside into links to their pages."""
    here = place(page.file.src_uri)
    start = posixpath.dirname(page.file.src_uri)

    def turned(link: re.Match[str]) -> str:
        target = resolved(here, link[1])
        uri = target.removeprefix("docs/") if target.startswith("docs/") else page_of(target)
        known = files.get_file_from_path(uri) is not None
        return f"]({posixpath.relpath(uri, start or '.')})" if known else link[0]

    return LINK.sub(turned, markdown)


def as_markdown(target: str, content: str) -> str:
    """Return the page that shows a file: notebooks cell by cell, code as it is."""
    if target.endswith(".md"):
        return content
    if target.endswith(".ipynb"):
        cells = [
            (cell["cell_type"], "".join(cell["source"])) for cell in json.loads(content)["cells"]
        ]
        return "\n\n".join(
            text if kind == "markdown" else code("python", text) for kind, text in cells
        )
    return f"# {target}\n\n{code(Path(target).suffix[1:], content)}"


def code(language: str, text: str) -> str:
    """Return a block of code."""
    return f"~~~~~~{language}\n{text.rstrip()}\n~~~~~~\n"


def place(uri: str) -> str:
    """Return where in the repository the text of a page lies."""
    if uri.startswith(f"{FOLDER}/"):
        return uri.removeprefix(f"{FOLDER}/").removesuffix(".md")
    return f"docs/{uri}"


def page_of(target: str) -> str:
    """Return the page that shows a file of the repository."""
    return f"{FOLDER}/{target}.md"


def resolved(here: str, link: str) -> str:
    """Return the repository's path of what ``link`` in the file ``here`` leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(here), link))


def outside(here: str, text: str) -> list[str]:
    """Return the links in ``text`` that leave ``docs/`` and stay in the repository."""
    targets = [resolved(here, link) for link in LINK.findall(text)]
    return [target for target in targets if not target.startswith(("docs/", "../"))]
