"""What an operator can set; a worker process receives it as it is."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.limits import Limits

HERE = Path(__file__).parent
DEMO = HERE / "demo"


@dataclass(frozen=True)
class Settings:
    """How to serve one deployment.

    Attributes
    ----------
    deployment
        What to serve.
    database_url
        ``sqlite:///PATH`` or ``postgresql://…``.
    admin_token_hash
        SHA-256, in hex, of the token that admin calls need; without one there are none.
    limits
        What clients may ask.
    queue
        How many reports may wait for a commit.
    """

    deployment: Deployment
    database_url: str
    admin_token_hash: str | None = None
    limits: Limits = field(default_factory=Limits)
    queue: int = 20_000


def read_deployment(path: Path | None) -> Deployment:
    """Read a deployment's TOML file, or the demo's."""
    path = DEMO / "deployment.toml" if path is None else path
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        expected = f"a file that can be read ({error.strerror})"
        raise InputError("deployment", str(path), expected) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("deployment", str(path), f"valid TOML ({error})") from None
    return Deployment.from_toml(table)
