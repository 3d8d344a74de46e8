"""What the page about deploying says of nginx, Caddy and systemd is true of the real programs."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .proxied import (
    FROM,
    NAME,
    Proxy,
    Upstream,
    certificate,
    free_port,
    program,
    running,
    snippet,
    upstream,
)

HIDDEN = {"User-Agent": "secret-agent", "Cookie": "who=me", "X-Forwarded-For": "10.9.8.7"}
OPERATOR = (
    "/metrics",
    "/v1/admin/export",
    "/%6detrics",
    "//metrics",
    "/v1//admin/export",
    "/v1/./admin/export",
)
OUTSIDE, INSIDE = "10.0.0.0/8", "127.0.0.0/8"


@pytest.fixture
def service() -> Iterator[Upstream]:
    with upstream() as seen:
        yield seen


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """Put in what differs on this machine; each must be there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture
def nginx(service: Upstream, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Proxy]:
    server = program("nginx", "nginx-light")
    inside = getattr(request, "param", OUTSIDE)
    made, key = certificate(tmp_path)
    proxy = Proxy(free_port(), made, tmp_path)
    site = replaced(
        snippet("ldprl.conf"),
        ("listen 443 ssl", f"listen 127.0.0.1:{proxy.port} ssl"),
        (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", str(made)),
        (f"/etc/letsencrypt/live/{NAME}/privkey.pem", str(key)),
        ("/var/log/nginx/ldprl.log", f"{tmp_path}/ldprl.log"),
        ("http://127.0.0.1:8000", f"http://127.0.0.1:{service.port}"),
        ("allow 10.0.0.0/8", f"allow {inside}"),
    )
    (tmp_path / "ldprl.conf").write_text(site, encoding="utf-8")
    folders = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    whole = f"""{user}daemon off;
pid {tmp_path}/pid;
error_log {tmp_path}/errors;
events {{}}
http {{
access_log {tmp_path}/access;
{folders}
include {tmp_path}/ldprl.conf;
}}
"""
    (tmp_path / "nginx.conf").write_text(whole, encoding="utf-8")
    with running([server, "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)], proxy):
        yield proxy


@pytest.fixture
def caddy(service: Upstream, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Proxy]:
    server = program("caddy", "caddy")
    inside = getattr(request, "param", OUTSIDE)
    made, key = certificate(tmp_path)
    proxy = Proxy(free_port(), made, tmp_path)
    site = replaced(
        snippet("Caddyfile"),
        ("{\n\tlog {", "{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {"),
        (f"{NAME} {{", f"https://{NAME}:{proxy.port} {{\n\ttls {made} {key}"),
        ("127.0.0.1:8000", f"127.0.0.1:{service.port}"),
        ("remote_ip 10.0.0.0/8", f"remote_ip {inside}"),
    )
    (tmp_path / "Caddyfile").write_text(site, encoding="utf-8")
    line = [server, "run", "--config", str(tmp_path / "Caddyfile")]
    with running(line, proxy, HOME=str(tmp_path), PATH=os.environ["PATH"]):
        yield proxy


def check_what_reaches_the_service(proxy: Proxy, service: Upstream) -> None:
    answer = proxy.ask("/v1/policy?id=" + "0" * 32, headers=HIDDEN)
    assert (answer.status, answer.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
    (headers,) = service.headers
    assert headers["host"].startswith(NAME)
    assert not set(headers) & {"cookie", "x-real-ip"}
    sent_headers = " ".join(headers.values())
    for hidden in (*HIDDEN.values(), FROM):
        assert hidden not in sent_headers
    assert proxy.ask("/v1/reports", "POST", b"x" * 3_900_000).status == 200


def check_who_is_the_operator(proxy: Proxy, service: Upstream, *, inside: bool) -> None:
    for path in OPERATOR[:2] if inside else OPERATOR:
        assert proxy.ask(path).status == (200 if inside else 403), path
    assert service.paths == (list(OPERATOR[:2]) if inside else [])


def check_what_is_on_disk(proxy: Proxy, service: Upstream) -> None:
    """Provoke what is logged as an error, and read all that was written."""
    service.stop()
    assert proxy.ask("/v1/policy?id=" + "0" * 32, headers=HIDDEN).status == 502
    with socket.create_connection(("127.0.0.1", proxy.port), 20, (FROM, 0)) as plain:
        plain.sendall(b"GET /v1/policy HTTP/1.1\r\nHost: without.tls\r\n\r\n")
        assert b"400" in plain.recv(100)
    for path in proxy.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for hidden in (FROM, *HIDDEN.values(), "/v1/policy"):
                assert hidden.encode() not in content, path


def test_nginx_hides_who_asks(nginx: Proxy, service: Upstream) -> None:
    check_what_reaches_the_service(nginx, service)
    assert nginx.ask("/v1/reports", "POST", b"x" * 4_300_000).status == 413
    check_what_is_on_disk(nginx, service)


@pytest.mark.parametrize("nginx", [OUTSIDE, INSIDE], indirect=True)
def test_nginx_lets_operators_in(
    nginx: Proxy, service: Upstream, request: pytest.FixtureRequest
) -> None:
    inside = request.node.callspec.params["nginx"] == INSIDE
    check_who_is_the_operator(nginx, service, inside=inside)


def test_nginx_limits_the_rate(nginx: Proxy) -> None:
    statuses = [nginx.ask("/v1/status").status for _ in range(40)]
    assert set(statuses) == {200, 429}
    assert statuses[:20] == [200] * 20, "a burst is let through"


@pytest.mark.slow
def test_caddy_hides_who_asks(caddy: Proxy, service: Upstream) -> None:
    check_what_reaches_the_service(caddy, service)
    check_what_is_on_disk(caddy, service)


@pytest.mark.slow
@pytest.mark.parametrize("caddy", [OUTSIDE, INSIDE], indirect=True)
def test_caddy_lets_operators_in(
    caddy: Proxy, service: Upstream, request: pytest.FixtureRequest
) -> None:
    inside = request.node.callspec.params["caddy"] == INSIDE
    check_who_is_the_operator(caddy, service, inside=inside)


def unit(folder: Path, text: str) -> Path:
    """Write the unit, with a program that is there in place of the installed one."""
    stand_in = folder / "ldprl"
    stand_in.write_text("#!/bin/sh\n", encoding="utf-8")
    stand_in.chmod(0o755)
    path = folder / "ldprl.service"
    path.write_text(replaced(text, ("/opt/ldprl/bin/ldprl", str(stand_in))), encoding="utf-8")
    return path


@pytest.mark.slow
def test_the_systemd_unit_is_valid(tmp_path: Path) -> None:
    analyze = program("systemd-analyze", "systemd")

    def said(text: str) -> str:
        line = [analyze, "verify", "--man=no", str(unit(tmp_path, text))]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        return "\n".join(line for line in done.stderr.splitlines() if "ldprl.service" in line)

    assert said(snippet("ldprl.service")) == ""
    assert "NoNewPrivilges" in said(
        snippet("ldprl.service").replace("NewPrivileges", "NewPrivilges")
    )


@pytest.mark.slow
def test_the_systemd_unit_is_confined(tmp_path: Path) -> None:
    """systemd rates what a service could do if it were taken over: 10 is everything."""
    analyze = program("systemd-analyze", "systemd")
    path = unit(tmp_path, snippet("ldprl.service"))
    line = [analyze, "security", "--offline=yes", "--threshold=50", "--no-pager", str(path)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_systemd_unit_starts_the_service_with_options_that_exist() -> None:
    from typer.main import get_command

    from ldprl.cli.app import app

    (line,) = re.findall(r"ExecStart=(.*)", snippet("ldprl.service").replace("\\\n", ""))
    _, command, *options = shlex.split(line)
    known = {name for option in get_command(app).commands[command].params for name in option.opts}  # type: ignore[attr-defined]
    assert {option for option in options if option.startswith("--")} <= known
