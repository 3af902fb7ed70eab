"""``python -m gateway`` is the command ``pixgate``."""

from gateway.cli.startup import uncollected


def main() -> None:
    """Run the command line; never returns."""
    with uncollected():
        from gateway.cli.main import pixgate  # noqa: PLC0415 - see the block

    pixgate(prog_name="pixgate")


if __name__ == "__main__":
    main()
