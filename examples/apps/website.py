"""A small website whose page takes part in the user's browser.

The website serves files and knows nothing of its users: the page fetches the policy from the
service, keeps states and rewards to itself, and sends one randomized report. It serves its own copy
of the browser client, so that the service cannot change what runs in the page.

    export LDPRL_URL=https://advice.example LDPRL_DIGEST=…
    uvicorn --app-dir examples/apps website:app
"""

from __future__ import annotations

import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

HERE = Path(__file__).parent


async def config(request: Request) -> JSONResponse:
    """Say which service the page is made for, and which deployment of it: any other is refused."""
    return JSONResponse({"url": os.environ["LDPRL_URL"], "digest": os.environ["LDPRL_DIGEST"]})


app = Starlette(
    routes=[
        Route("/config.json", config),
        Mount("/client", StaticFiles(directory=HERE.parents[1] / "clients" / "js")),
        Mount("/", StaticFiles(directory=HERE / "page", html=True)),
    ]
)
