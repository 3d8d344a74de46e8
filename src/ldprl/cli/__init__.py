"""The command line: parse, call the library, show."""

from __future__ import annotations

import sys

_EXTRAS = {
    "gymnasium": "gymnasium",
    "ray": "cluster",
    **dict.fromkeys(
        ("httptools", "msgspec", "psycopg", "starlette", "uvicorn", "uvloop"), "service"
    ),
}
"""The extra that installs a missing package, where the command does not say."""
_SERVING = {"serve", "keys", "database", "admin-token", "backup", "restore"}
"""The commands of a service, under all their names."""


def main() -> None:
    """Run the ``ldprl`` command."""
    try:
        from ldprl.cli.app import app

        app(prog_name="ldprl")
    except ModuleNotFoundError as missing:
        if (missing.name or "ldprl").startswith("ldprl"):
            raise
        # `serve` needs no more than its own extra, which has what simulation shares with it.
        usual = "service" if _SERVING & set(sys.argv[1:2]) else "simulation"
        extra = _EXTRAS.get((missing.name or "").partition(".")[0], usual)
        hint = f"pip install 'ldprl[{extra}]'"
        print(f"error: {missing.name} is not installed: {hint}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
