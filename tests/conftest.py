"""What all tests need of the process that they run in."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker

import pytest

from tests.compiling import compile_one_at_a_time
from tests.leaks import held, kept_since

# Where a shell starts the tests in the background, SIGINT is ignored, and so it would be in all the
# processes that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The first process that multiprocessing spawns brings a second one, which stays to the end.
resource_tracker.ensure_running()
compile_one_at_a_time()


def _leaving_nothing() -> Iterator[None]:
    """Fail if a file, a process or a thread is left that was not there before."""
    before = held()
    yield
    kept = kept_since(before)
    assert not kept, f"left behind: {', '.join(kept)}"


# Fixtures of a file are made before the first of these and ended after it, so there are two.
_test_leaves_nothing = pytest.fixture(autouse=True)(_leaving_nothing)
_file_leaves_nothing = pytest.fixture(autouse=True, scope="module")(_leaving_nothing)
