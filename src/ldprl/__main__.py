"""``python -m ldprl``: the command line."""

from ldprl.cli import main

if __name__ == "__main__":
    main()
