"""nginx as the kit has it, for tests: without TLS, and without limits on one address's requests."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from .server import Client

CONF = Path(__file__).parents[2] / "deploy" / "nginx.conf"


def program() -> str:
    """Return where nginx is; skip where it is nowhere."""
    found = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if found is None:
        pytest.skip("nginx is not installed (apt-get install nginx)")
    return found


def configuration(folder: Path, address: str, text: str | None = None) -> Path:
    """Write what nginx reads: the kit's file, that listens at ``address`` and writes here alone."""
    text = CONF.read_text(encoding="utf-8") if text is None else text
    text = text.replace("listen 443 ssl http2;", f"listen {address};")
    text = re.sub(r"^ *ssl_.*$", "", text, flags=re.MULTILINE)
    text = text.replace("rate=5r/s", "rate=100000r/s").replace("burst=20", "burst=10000")
    text = text.replace("/var/cache/nginx", str(folder)).replace("/var/log/nginx", str(folder))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; user root; pid {folder}/pid; worker_processes 1; error_log {folder}/errors;"
        f"events {{ worker_connections 4096; }} http {{ {paths} {text} }}",
        encoding="utf-8",
    )
    return file


def balancer(folder: Path, address: str, text: str | None = None) -> subprocess.Popen[bytes]:
    """Start nginx at ``address`` (host and port), and wait until a server responds behind it."""
    file = configuration(folder, address, text)
    nginx = subprocess.Popen([program(), "-c", str(file), "-p", str(folder)])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            assert Client(f"http://{address}").get("/v1/status").status == 200
            return nginx
        time.sleep(0.05)
    nginx.kill()
    raise RuntimeError((folder / "errors").read_text(encoding="utf-8"))
