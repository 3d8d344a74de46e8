"""Sealed for one key, deployment, version and plan, in one length; fast enough for a client."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from ldprl.errors import InputError
from ldprl.protocol.sealing import OVERHEAD, new_private_key, opener, seal

DIGEST, PLAN = "d" * 64, "a" * 64


def test_it_opens_for_what_it_was_sealed_for_alone() -> None:
    private = new_private_key()
    mine = opener(private, DIGEST)
    sealed = seal(b'{"a":1}', 64, mine.key, DIGEST, 3, PLAN)
    assert len(sealed) == 64 + OVERHEAD
    assert mine.open(sealed, 3, PLAN) == b'{"a":1}'.ljust(64)
    assert mine.open(sealed, 4, PLAN) is None
    assert mine.open(sealed, 3, "b" * 64) is None
    assert opener(private, "e" * 64).open(sealed, 3, PLAN) is None
    assert opener(new_private_key(), DIGEST).open(sealed, 3, PLAN) is None
    for broken in (b"", sealed[:31], sealed[:-1], sealed + b"x", bytes(len(sealed))):
        assert mine.open(broken, 3, PLAN) is None
    assert sealed != seal(b'{"a":1}', 64, mine.key, DIGEST, 3, PLAN)


def test_bad_keys_and_sizes_are_refused() -> None:
    key = opener(new_private_key()).key
    with pytest.raises(InputError, match="at most 2"):
        seal(b"abc", 2, key, DIGEST, 1, PLAN)
    with pytest.raises(InputError, match=r"shuffle\.key"):
        seal(b"abc", 9, "00" * 32, DIGEST, 1, PLAN)
    for private in ("", "xyz", "00" * 31):
        with pytest.raises(InputError, match="private_key"):
            opener(private)


def test_sealing_takes_less_than_5_ms() -> None:
    key = opener(new_private_key()).key
    seal(b"", 256, key, DIGEST, 1, PLAN)
    started = time.process_time()
    for _ in range(50):
        seal(b"", 256, key, DIGEST, 1, PLAN)
    assert (time.process_time() - started) / 50 < 0.005


def test_without_the_library_the_message_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['cryptography.hazmat.primitives'] = None\n"
        "from ldprl.protocol.sealing import seal\n"
        "seal(b'', 9, '00' * 32, '', 1, '')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "ldprl[relay]"' in done.stderr
