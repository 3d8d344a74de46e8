"""A small ASGI app on the user's own device: its window asks for advice and says what came of it.

States and rewards stay in this process and its files. Only the randomized report leaves. Whenever
the app is killed, the next request continues where the last one ended.

    export LDPRL_URL=https://advice.example LDPRL_DIGEST=… LDPRL_LEDGER=~/advice.ledger
    uvicorn --app-dir examples/apps local_app:app
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ldprl import InputError
from ldprl.client import AsyncClient, Client


@contextlib.asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open the client with the app; send first what an earlier run could not."""
    client = AsyncClient(
        Client(
            os.environ["LDPRL_URL"],
            digest=os.environ["LDPRL_DIGEST"],
            ledger=os.environ["LDPRL_LEDGER"],
        )
    )
    app.state.client = client
    await client.resend()
    yield
    await client.close()


async def advice(request: Request) -> JSONResponse:
    """Say what to do in the state that the user is in."""
    episode = await request.app.state.client.begin()
    if episode.done:
        return JSONResponse({"done": True})
    action = await episode.action(int(request.query_params["state"]))
    return JSONResponse({"done": False, "step": episode.episode.step, "action": action})


async def outcome(request: Request) -> JSONResponse:
    """Take down the reward and the next state; after the last step, report."""
    said = await request.json()
    episode = await request.app.state.client.begin()
    if not episode.done:
        await episode.record(said["reward"], said["state"])
    if not episode.done:
        return JSONResponse({"done": False})
    return JSONResponse({"done": True, "report": (await episode.report()).status})


async def stop(request: Request) -> JSONResponse:
    """Stop here: the report then says "nothing to report", and looks like any other."""
    episode = await request.app.state.client.begin()
    return JSONResponse({"done": True, "report": (await episode.report()).status})


async def refused(request: Request, error: Exception) -> JSONResponse:
    """Say what was wrong with a request."""
    return JSONResponse({"error": str(error)}, status_code=400)


app = Starlette(
    routes=[
        Route("/advice", advice),
        Route("/outcome", outcome, methods=["POST"]),
        Route("/stop", stop, methods=["POST"]),
    ],
    exception_handlers={InputError: refused},
    lifespan=lifespan,
)
