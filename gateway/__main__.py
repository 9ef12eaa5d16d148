"""Start here: `hikae …` and `python -m gateway …`. What each command does is in `cli/`."""

import sys

from gateway import cli, lifeline


def main() -> None:
    """The `hikae` script."""
    lifeline.leave_no_core()
    sys.exit(cli.main())


if __name__ == "__main__":
    main()
