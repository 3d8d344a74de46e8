"""What an operator can set; a worker process receives it as it is."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path

from ldprl.disk import read_json, read_text
from ldprl.errors import InputError
from ldprl.policies.imported import start_from
from ldprl.policies.parametric import Parametric
from ldprl.policies.written import to_base64
from ldprl.problem import problem_from
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.protocol import LEASE_SECONDS
from ldprl.service.learners import learner_of
from ldprl.service.limits import Limits

HERE = Path(__file__).parent
DEMO = HERE / "demo"
DEMOS = {"savers": DEMO / "deployment.toml", "glucose": DEMO / "glucose.toml"}
"""Deployments to try: policies that are tables, and policies on vectors."""
_LONGEST_FILE = 2**22
"""Bytes of a deployment's file: 10,000 labels of 200 characters and some more."""


@dataclass(frozen=True)
class ServiceSettings:
    """How to serve one deployment."""

    deployment: Deployment
    database_url: str
    """``sqlite:///PATH`` or ``postgresql://…``."""
    admin_token_hash: str | None = None
    """SHA-256, in hex, of the token that admin calls need; without one there are none."""
    limits: Limits = field(default_factory=Limits)
    """What clients may ask."""
    proxies: tuple[str, ...] = ()
    """Addresses and networks whose ``X-Forwarded-For`` names the user's address; nobody else's
    does."""
    lease_seconds: float = LEASE_SECONDS
    """With PostgreSQL: after how long without a sign of the server that plans another one does."""
    database_wait: float = 300.0
    """Seconds to wait at the start for a database that does not respond."""
    forget_before: int = 0
    """Plans are made from reports under plans that were made from this many users, or more."""
    private_key: str | None = field(default=None, repr=False)
    """With a relay: the key that reports are sealed to, in hex."""
    relay_token_hash: str | None = None
    """With a relay: SHA-256 of its token, in hex."""


def read_deployment(path: Path | None) -> Deployment:
    """Read a deployment's TOML file, or the demo's.

    What is publicly known, or the incumbent alone, may be in a separate JSON file; the policy that
    ``[policy]`` starts from in one of torch's, Stable-Baselines3's, ONNX or JSON.
    """
    path = DEMOS["savers"] if path is None else path
    try:
        table = tomllib.loads(read_text("deployment", path, "TOML", _LONGEST_FILE))
    except tomllib.TOMLDecodeError as error:
        raise InputError("deployment", str(path), f"valid TOML ({error})") from None
    except RecursionError:
        raise InputError("deployment", str(path), "TOML that is not nested so deeply") from None
    if isinstance(named := table.get("structure"), str):
        table["structure"] = read_json("structure", path.parent / named, _LONGEST_FILE)
    elif isinstance(named, dict) and isinstance(policy := named.get("incumbent"), str):
        file = path.parent / policy
        named["incumbent"] = read_json("structure.incumbent", file, _LONGEST_FILE)
    policy = table.get("policy")
    # No base64 has a dot.
    if isinstance(policy, dict) and "." in str(start := policy.get("start", "")):
        problem = problem_from({key: policy[key] for key in policy if key != "start"})
        if not isinstance(problem, Parametric):
            raise InputError("policy.start", start, "none where policies have no parameters")
        policy["start"] = to_base64(start_from(path.parent / str(start), problem))
    deployment = Deployment.from_toml(table)
    # Whoever plans is the service's own affair, and must be able to.
    learner_of(deployment)
    return deployment


def read_proxies(text: str) -> tuple[str, ...]:
    """Read a list of addresses and networks, separated by commas."""
    proxies = tuple(part.strip() for part in text.split(",") if part.strip())
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError:
            expected = "addresses or networks such as 127.0.0.1,10.0.0.0/8"
            raise InputError("proxy", proxy, expected) from None
    return proxies
