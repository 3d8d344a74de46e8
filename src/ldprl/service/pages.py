"""The dashboard, the demo page and what they load; nothing comes from elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldprl.problem import Problem
from ldprl.service.responses import JSON, PAGE_POLICY, problem, tagged
from ldprl.service.settings import DEMO, HERE
from ldprl.shape import Shape

_STATIC = HERE / "static"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": JSON,
    ".svg": "image/svg+xml",
}
# A checkout has the browser client where it is developed, a package has it in static.
_CLIENT = HERE.parents[2] / "clients" / "js"


def _files(served: Problem) -> dict[str, Path]:
    """Return every file by the path it is served at: a request can name nothing else."""
    demo = "demo.html" if isinstance(served, Shape) else "vectors.html"
    client = [_CLIENT / "ldprl.js", *(_CLIENT / "src").rglob("*.js")]
    checkout = {f"/static/{path.relative_to(_CLIENT).as_posix()}": path for path in client}
    packaged = {
        f"/static/{path.relative_to(_STATIC).as_posix()}": path
        for path in _STATIC.rglob("*")
        if path.is_file()
    }
    return (
        checkout
        | packaged
        | {
            "/": _STATIC / "dashboard.html",
            "/demo": _STATIC / demo,
            "/static/demo/world.json": DEMO / "world.json",
        }
    )


def routes(served: Problem) -> list[Route]:
    """Return the pages' routes; every file is read once.

    The demo page of ``served`` is that for tables, or that for what users see as vectors.
    """
    read = {path: _Page.of(file) for path, file in _files(served).items() if file.is_file()}

    async def page(request: Request) -> Response:
        found = read.get(request.url.path)
        if found is None:
            return problem(404, "not-found", "no such page")
        return tagged(request, found.content, found.tag, found.kind, PAGE_POLICY)

    return [Route(path, page) for path in ("/", "/demo", "/static/{name:path}")]


class _Page(NamedTuple):
    content: bytes
    tag: str
    kind: str

    @classmethod
    def of(cls, file: Path) -> _Page:
        content = file.read_bytes()
        kind = _KINDS.get(file.suffix, "application/octet-stream")
        return cls(content, hashlib.sha256(content).hexdigest()[:32], kind)
