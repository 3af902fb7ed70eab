"""``python -m gateway`` is the command ``pixgate``."""

from gateway.cli.main import pixgate


def main() -> None:
    """Run the command line; never returns."""
    pixgate(prog_name="pixgate")


if __name__ == "__main__":
    main()
