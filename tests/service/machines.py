"""Machines of their own on one machine: network namespaces that one switch connects.

Nothing of them is in the network of whoever runs the tests. A thread enters a machine; what it
starts there stays there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_NEW_NETWORK = 0x40000000
_NAMED = Path("/run/netns")


class Machines:
    """``names`` with the addresses 10.0.0.11, 10.0.0.12, … in this order."""

    def __init__(self, *names: str) -> None:
        # Linux allows 15 letters for the name of a device.
        self._prefix = f"t{secrets.token_hex(3)}"
        self.addresses = {name: f"10.0.0.{11 + place}" for place, name in enumerate(names)}

    def connect(self) -> None:
        """Make the machines and the switch; skip where this is not permitted."""
        if shutil.which("ip") is None or os.geteuid() != 0:
            pytest.skip("network namespaces need root and the command `ip` (iproute2)")
        try:
            _ip("netns", "add", self._space("switch"))
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not permitted: {error.stderr.strip()}")
        switch = ("-n", self._space("switch"))
        _ip(*switch, "link", "add", "bridge", "type", "bridge")
        _ip(*switch, "link", "set", "bridge", "up")
        for place, (name, address) in enumerate(self.addresses.items()):
            space, port = self._space(name), f"{self._prefix}p{place}"
            _ip("netns", "add", space)
            # Both ends are made where they belong, so that nothing passes through the host.
            ends = ("type", "veth", "peer", "name", "net0", "netns", space)
            _ip(*switch, "link", "add", port, *ends)
            _ip(*switch, "link", "set", port, "master", "bridge", "up")
            _ip("-n", space, "address", "add", f"{address}/24", "dev", "net0")
            for device in ("lo", "net0"):
                _ip("-n", space, "link", "set", device, "up")

    def remove(self) -> None:
        """Delete everything."""
        for name in ("switch", *self.addresses):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "del", self._space(name))

    def cut(self, name: str, *, cut: bool = True) -> None:
        """Pull a machine's cable, or put it back: nobody is told that it is gone."""
        port = f"{self._prefix}p{list(self.addresses).index(name)}"
        _ip("-n", self._space("switch"), "link", "set", port, "down" if cut else "up")

    @contextlib.contextmanager
    def on(self, name: str) -> Iterator[str]:
        """Have this thread, and what it starts, be on a machine; yield its address."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(_NAMED / self._space(name), os.O_RDONLY)
        try:
            _enter(there)
            yield self.addresses[name]
        finally:
            _enter(before)
            os.close(there)
            os.close(before)

    def _space(self, name: str) -> str:
        return f"{self._prefix}-{name}"


def _enter(space: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(space, _NEW_NETWORK):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=30)
