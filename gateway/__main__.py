"""``python -m gateway`` is the command ``pixgate``."""

import sys
from importlib.metadata import PackageNotFoundError, version

from gateway.app.commands.main import pixgate


def main() -> None:
    """Run the command line; never returns."""
    try:
        version("pixgate")  # it and the entry points are what the installed package says of itself
    except PackageNotFoundError:
        sys.exit("Error: pixgate is not installed for this Python; in a checkout: make setup")
    pixgate(prog_name="pixgate")


if __name__ == "__main__":
    main()
