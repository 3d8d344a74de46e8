"""What can go wrong between a client and a service."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldprl.client.outcome import Outcome


class ClientError(Exception):
    """Something between this client and the service went wrong; the trajectory stayed here."""


class RefusedError(ClientError):
    """The service will never count this report: sending it again is of no use.

    Attributes
    ----------
    outcome
        What was sent, and the ``cause`` and ``detail`` of the refusal.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__(f"{outcome.cause}: {outcome.detail}")


class UnavailableError(ClientError):
    """The service could not be reached in time, or asked for a later retry than time allowed."""


class UnexpectedResponseError(ClientError):
    """The response does not follow the protocol: it is a proxy's page, for example."""


class BusyError(ClientError):
    """Another process is in the middle of this user's episode."""
