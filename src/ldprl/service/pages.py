"""The dashboard, the demo page and what they load; nothing comes from elsewhere."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ldprl.service.responses import HEADERS, PAGE_POLICY, problem
from ldprl.service.settings import DEMO, HERE

_STATIC = HERE / "static"
# A checkout has the browser client where it is developed, a package has it in static.
_CLIENT = HERE.parents[2] / "clients" / "js"


def _files() -> dict[str, Path]:
    """Return every file by the path it is served at: a request can name nothing else."""
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
            "/demo": _STATIC / "demo.html",
            "/static/demo/world.json": DEMO / "world.json",
        }
    )


def routes() -> list[Route]:
    """Return the pages' routes."""
    files = _files()

    async def page(request: Request) -> Response:
        path = files.get(request.url.path)
        if path is None or not path.is_file():
            return problem(404, "not-found", "no such page")
        headers = HEADERS | {"content-security-policy": PAGE_POLICY, "cache-control": "no-cache"}
        kind = "text/javascript" if path.suffix in (".js", ".mjs") else None
        return FileResponse(path, headers=headers, media_type=kind)

    return [Route(path, page) for path in ("/", "/demo", "/static/{name:path}")]
