"""Counts the package: ``python docs/tools/sizes.py`` prints, ``--write`` renews the architecture.

Lines and files by folder, and which modules a module needs, by its imports. ``--source`` counts
another checkout. A test compares what the page says with what is counted.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
BESIDE = "beside the folders"
NEEDS = "paper learning.ldp_obi mechanisms.laplace simulation.reference client.client cli.regret"
TOTAL = re.compile(
    r"there are ([\d,]+) in (\d+), of which (\d+)% are docstrings\s+and comments,"
    r" (\d+)% blank lines and (\d+)% imports"
)


def modules(source: Path) -> dict[str, Path]:
    """Return every module of the package."""
    top = source / "src"
    names = (
        (".".join(p.relative_to(top).with_suffix("").parts), p)
        for p in (top / "ldprl").rglob("*.py")
    )
    return {name.removesuffix(".__init__"): path for name, path in names}


@cache
def parsed(path: Path) -> ast.Module:
    """Return a file's tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, known: Container[str]) -> Iterator[str]:
    """Yield what a module imports, inside functions too, but not for types alone."""
    tree = parsed(path)
    typed = {
        id(node)
        for top in ast.walk(tree)
        if isinstance(top, ast.If) and "TYPE_CHECKING" in ast.dump(top.test)
        for node in ast.walk(top)
    }
    for node in ast.walk(tree):
        if id(node) in typed:
            continue
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            # What a folder's own file imports counts where something is taken from that file.
            below = [f"{node.module}.{one.name}" for one in node.names]
            yield from (one if one in known else node.module or "" for one in below)


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()


def needed(source: Path, entry: str) -> tuple[int, int]:
    """Return how many modules, and lines, a module needs, at any distance."""
    known = modules(source)
    seen: set[str] = set()
    waiting = [f"ldprl.{entry}"]
    while waiting:
        name = waiting.pop()
        if name in known and name not in seen:
            seen.add(name)
            waiting += imports(known[name], known)
    return len(seen), sum(len(lines_of(known[one])) for one in seen)


def folders(source: Path) -> dict[str, tuple[int, int]]:
    """Return the files and lines of each folder, and of what lies beside them."""
    found: dict[str, tuple[int, int]] = {}
    for name, path in modules(source).items():
        folder = BESIDE if path.parent.name == "ldprl" else name.split(".")[1]
        files, lines = found.get(folder, (0, 0))
        found[folder] = files + 1, lines + len(lines_of(path))
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def shares(source: Path) -> tuple[int, int, int]:
    """Return the percentages of docstrings and comments, of blank lines, and of imports."""
    words, blank, needs, total = 0, 0, 0, 0
    for path in modules(source).values():
        lines = lines_of(path)
        said = {at for at, line in enumerate(lines, 1) if line.lstrip().startswith("#")}
        for node in ast.walk(parsed(path)):
            spanned = range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", 0) or 0) + 1)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                said.update(spanned if isinstance(node.value.value, str) else ())
            elif isinstance(node, ast.Import | ast.ImportFrom):
                needs += len(spanned)
        words += len(said)
        blank += sum(not line.strip() and at not in said for at, line in enumerate(lines, 1))
        total += len(lines)
    return round(100 * words / total), round(100 * blank / total), round(100 * needs / total)


def stated(source: Path) -> dict[str, tuple[int, int]]:
    """Return modules, or files, and lines, by what a row of the page's tables begins with."""
    each = folders(source)
    found = {f"`{name}`" if name != BESIDE else name: size for name, size in each.items()}
    files, lines = zip(found.pop("`accounting`"), found.pop("`audit`"), strict=True)
    found["`accounting`, `audit`"] = sum(files), sum(lines)
    return found | {f"`ldprl.{entry}`": needed(source, entry) for entry in NEEDS.split()}


def rows(page: str) -> dict[str, tuple[int, int]]:
    """Return what the page's tables say, by what each row begins with."""
    found = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 4 and (size := _SIZE.fullmatch(cells[3])):
            found[cells[1]] = int(size[1]), int(size[2].replace(",", ""))
    return found


_SIZE = re.compile(r"(\d+)(?: modules?)?, ([\d,]+)(?: lines)?")


def renewed(page: str, source: Path) -> str:
    """Return the page with the figures of today."""
    counted = stated(source)
    lines = page.splitlines(keepends=True)
    for at, line in enumerate(lines):
        cells = line.split("|")
        if len(cells) > 4 and _SIZE.fullmatch(cells[3].strip()) and cells[1].strip() in counted:
            files, size = counted[cells[1].strip()]
            cells[3] = f" {files}, {size:,} "
            lines[at] = "|".join(cells)
    each = folders(source).values()
    total, number = sum(size for _, size in each), sum(files for files, _ in each)
    words, blank, needs = shares(source)
    sentence = (
        f"there are {total:,} in {number}, of which {words}% are docstrings\nand comments,"
        f" {blank}% blank lines and {needs}% imports"
    )
    return TOTAL.sub(sentence, "".join(lines))


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT)
    parser.add_argument("--write", action="store_true", help="renew docs/architecture.md")
    given = parser.parse_args()
    source = given.source.resolve()
    if given.write:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), source), encoding="utf-8")
        return
    print("| module | modules that it needs | lines |\n|---|---|---|")
    for entry in NEEDS.split():
        if f"ldprl.{entry}" in modules(source):
            count, size = needed(source, entry)
            print(f"| `{entry}` | {count} | {size:,} |")
    print("\n| folder | files | lines |\n|---|---|---|")
    for folder, (files, size) in folders(source).items():
        print(f"| {folder} | {files} | {size:,} |")


if __name__ == "__main__":
    main()
