"""What the pages call modules, files, classes, commands and options is what they are called."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer.main

from ldprl.cli.app import app
from tests.docs.test_pages import FENCE, PAGES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ldprl"
OTHERS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "studies/README.md",
    "studies/constants.md",
)
TEXTS = {f"docs/{name}": path for name, path in PAGES.items()} | {n: ROOT / n for n in OTHERS}
CODE = ("src", "studies", "tests", "benchmarks", "examples", "docs/tools", "clients", "deploy")
INLINE = re.compile(r"`([^`\n]+)`")
DOTTED = re.compile(r"(?<![\w/.-])(?:ldprl|studies)(?:\.[A-Za-z_]\w*)+\b(?![\w/-])")
FILE = re.compile(r"(?!/)[\w./-]*\w\.(?:py|js|ts)")
CLASS = re.compile(r"((?:[a-z_]+\.)*)([A-Z][A-Za-z]*[a-z][A-Za-z]*)((?:\.[a-z_]\w*)?)(?:\(.*\))?")
FOREIGN = {"Dockerfile", "FrozenLake", "CliffWalking", "Blackjack"} | set(dir(builtins))
"""Names that are Docker's, Gymnasium's or Python's."""


@cache
def files() -> list[str]:
    endings = (".py", ".js", ".ts")
    found = [path for folder in CODE for path in (ROOT / folder).rglob("*.*s")]
    found += [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    return [
        f"/{path.relative_to(ROOT)}"
        for path in found
        if path.suffix in endings and "node_modules" not in path.parts
    ]


@cache
def shown() -> set[str]:
    """Return the files that readers make from the blocks of the pages."""
    found: set[str] = set()
    for path in TEXTS.values():
        text = path.read_text(encoding="utf-8")
        found |= {Path(fence[2]).name for fence in FENCE.finditer(text) if fence[2]}
        found |= set(re.findall(r"into one file, `(\w+\.py)`", text))
    return found


@cache
def classes() -> dict[str, set[str]]:
    """Return each class of the code, with what it and the classes that it derives from define."""
    own: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for file in files():
        text = (ROOT / file[1:]).read_text(encoding="utf-8")
        if not file.endswith(".py"):
            for name in re.findall(r"\b(?:class|interface) (\w+)", text):
                own.setdefault(name, set()).update(re.findall(r"\b\w+", text))
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                own.setdefault(node.name, set()).update(_defined(node))
                parts = [part for base in node.bases for part in ast.walk(base)]
                named = {part.id for part in parts if isinstance(part, ast.Name)}
                bases.setdefault(node.name, set()).update(named)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                own.setdefault(node.targets[0].id, set())
    for _ in range(6):  # levels of classes
        for name, parents in bases.items():
            own[name] |= {member for parent in parents for member in own.get(parent, ())}
    return own


def _defined(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield part.name
        elif isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.id if isinstance(part, ast.Name) else part.attr


def wrong_module(name: str) -> bool:
    """Whether ``ldprl.x.y`` is neither a module nor something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            if find_spec(".".join(parts[:end])) is None:
                continue
        except ModuleNotFoundError:
            continue
        found = importlib.import_module(".".join(parts[:end]))
        for place, part in enumerate(parts[end:]):
            if not hasattr(found, part):
                known = classes().get(parts[end + place - 1], set()) if place else set()
                return part not in known
            found = getattr(found, part)
        return False
    return True


def wrong_command(line: str) -> str | None:
    """Return what ``ldprl NAME --option`` names that is not there."""
    words = shlex.split(line.replace("…", " "), comments=True)[1:]
    command = typer.main.get_command(app)
    while words and hasattr(command, "commands") and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        if words[0] not in command.commands:
            return words[0]
        command = command.commands[words.pop(0)]
    if words and words[0].isupper():  # stands for any command
        return None
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    named = (word.partition("=")[0] for word in words if word.startswith("--"))
    return next((name for name in named if name not in known | {"--help"}), None)


def wrong_names(text: str) -> list[str]:
    """Return the names on a page that nothing has."""
    prose, wrong = FENCE.sub("", text), []
    made = set(re.findall(r"^class (\w+)", text, flags=re.MULTILINE))
    inline = INLINE.findall(prose)
    lines = [code for code in inline if code.startswith("ldprl ")]
    for fence in FENCE.finditer(text):
        if fence[1] in ("sh", "bash", "console"):
            whole = fence[3].replace("\\\n", " ")
            lines += [line for line in whole.splitlines() if line.startswith("ldprl ")]
    for code in inline:
        wrong += [name for name in DOTTED.findall(code) if wrong_module(name)]
        if FILE.fullmatch(code) and code not in shown():
            wrong += [] if any(one.endswith(f"/{code}") for one in files()) else [code]
        named = CLASS.fullmatch(code)
        if named and named[2] not in FOREIGN | made:
            module, kind, member = named[1], named[2], named[3][1:]
            if kind not in classes() or (member and member not in classes()[kind]):
                wrong.append(code)
            elif (SOURCE / module.partition(".")[0]).is_dir() and module:
                wrong += [code] if wrong_module(f"ldprl.{module}{kind}") else []
    for line in lines:
        bad = wrong_command(line)
        wrong += [f"{line}: {bad}"] if bad else []
    return wrong


@pytest.mark.parametrize("name", TEXTS)
def test_names_on_pages_exist(name: str) -> None:
    assert not wrong_names(TEXTS[name].read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "`ldprl.mdp`",
        "`ldprl.worlds.Tabular`",
        "[`learning/chart.py`](x)",
        "`Laboratory`",
        "`learning.chart.SparseModel`",
        "`Shape.rooms`",
        "`ldprl audits`",
        "`ldprl deployment start`",
        "`ldprl audit --epsilons 1`",
        "```sh\nldprl regret --mdp x --world y\n```\n",
    ],
)
def test_a_stale_name_would_be_noticed(text: str) -> None:
    assert wrong_names(text)
