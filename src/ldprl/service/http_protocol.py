"""A connection that brings no request is hung up on, so that idle ones do not add up."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 10.0


class Connection(HttpToolsProtocol):
    """uvicorn's protocol, with a deadline for a request's headers."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request soon."""
        super().connection_made(transport)
        self._expect_headers()

    def on_message_begin(self) -> None:
        """Expect the rest of a request's headers soon."""
        super().on_message_begin()
        self._expect_headers()

    def on_headers_complete(self) -> None:
        """Let the body have its own time."""
        self._be_content()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing any more."""
        self._be_content()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _be_content(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
