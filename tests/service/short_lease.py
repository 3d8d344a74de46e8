"""``ldprl serve`` with a lease of two seconds, so that a test need not wait for twenty."""

from __future__ import annotations

import functools

from ldprl.cli import main
from ldprl.service import settings

if __name__ == "__main__":
    short = functools.partial(settings.ServiceSettings, lease_seconds=2.0)
    settings.ServiceSettings = short  # type: ignore[assignment, misc]
    main()
