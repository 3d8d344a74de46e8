"""A Starlette handler that decodes a report and counts nothing: what the web server alone takes."""

from __future__ import annotations

import socket
import sys
import tomllib
from pathlib import Path

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldprl.protocol.deployment import Deployment
from ldprl.service.intake import Report

_decoder = msgspec.json.Decoder(Report)


async def take(request: Request) -> Response:
    """Read a report, and say that it was counted."""
    report = _decoder.decode(await request.body())
    content = msgspec.json.encode({"id": report.id, "status": "counted"})
    return Response(content, media_type="application/json")


def main() -> None:
    """Serve the deployment of ``--deployment`` on a free port."""
    file = Path(sys.argv[sys.argv.index("--deployment") + 1])
    deployment = Deployment.from_toml(tomllib.loads(file.read_text(encoding="utf-8")))
    content = msgspec.json.encode({"digest": deployment.digest, "deployment": deployment.document})

    async def document(_: Request) -> Response:
        return Response(content, media_type="application/json")

    routes = [Route("/v1/deployment", document), Route("/v1/reports", take, methods=["POST"])]
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"bare serving http://127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr)
    config = uvicorn.Config(
        Starlette(routes=routes),
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
