"""The user's side of a running service: fetch a policy, follow it, report in private.

It needs numpy and the standard library alone.
"""

from ldprl.client.allowance import Left as Left
from ldprl.client.asynchronous import AsyncClient as AsyncClient
from ldprl.client.asynchronous import AsyncEpisode as AsyncEpisode
from ldprl.client.client import Client as Client
from ldprl.client.episode import Episode as Episode
from ldprl.client.episode import StopEpisode as StopEpisode
from ldprl.client.errors import BusyError as BusyError
from ldprl.client.errors import ClientError as ClientError
from ldprl.client.errors import RefusedError as RefusedError
from ldprl.client.errors import UnavailableError as UnavailableError
from ldprl.client.errors import UnexpectedResponseError as UnexpectedResponseError
from ldprl.client.outcome import Outcome as Outcome
from ldprl.client.window import RollingBudget as RollingBudget
