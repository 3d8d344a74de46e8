"""The command line: parse, call the library, show."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the ``ldprl`` command."""
    try:
        from ldprl.cli.app import app

        app(prog_name="ldprl")
    except ModuleNotFoundError as missing:
        if (missing.name or "ldprl").startswith("ldprl"):
            raise
        hint = "pip install 'ldprl[simulation]'"
        print(f"error: {missing.name} is not installed: {hint}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
