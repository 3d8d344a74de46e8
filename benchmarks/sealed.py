"""Sealed reports for a relay: ``python -m benchmarks.sealed URL CONNECTIONS REQUESTS``.

What is in them no relay can know, so that random bytes of the right length will do.
"""

from __future__ import annotations

import json
import random
import sys
import urllib.request
from base64 import b64encode
from urllib.parse import urlsplit

import uvloop

from benchmarks.loopback import post
from ldprl.protocol.sealing import OVERHEAD


def requests(url: str, count: int) -> list[bytes]:
    """Return whole requests, one sealed report each."""
    with urllib.request.urlopen(f"{url}/v1/policy", timeout=10) as answer:
        plan = json.load(answer)
    fields = {"deployment": plan["deployment"], "version": plan["version"]}
    head = f"POST /v1/reports HTTP/1.1\r\nhost: {urlsplit(url).netloc}\r\ncontent-length: "
    made = []
    for _ in range(count):
        sealed = b64encode(random.randbytes(plan["report_bytes"] + OVERHEAD)).decode()
        text = json.dumps(fields | {"sealed": sealed})
        made.append(f"{head}{len(text)}\r\n\r\n{text}".encode())
    return made


if __name__ == "__main__":
    url, connections, count = sys.argv[1:]
    print(json.dumps(uvloop.run(post(url, int(connections), requests(url, int(count))))))
