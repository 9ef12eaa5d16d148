"""`hikae`, with the platforms' gates wide open: what tests and benchmarks start.

    python -m tests.unhurried --home … gateway

The same program otherwise. How often Telegram lets a bot speak is no setting, so it is said here.
"""

import sys
from functools import partial

from gateway import cli, serving
from gateway.platforms.gates import OPEN


def main() -> None:
    """The `hikae` script in a hurry."""
    vars(serving)["serve"] = partial(serving.serve, rates=OPEN)
    sys.exit(cli.main())


if __name__ == "__main__":
    main()
