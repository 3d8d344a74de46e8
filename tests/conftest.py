"""What all tests need of the process that they run in."""

from __future__ import annotations

import signal

# Where a shell starts the tests in the background, SIGINT is ignored, and so it would be in all the
# processes that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
