"""``python -m gateway`` is the command ``pixgate``."""

import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("gateway", "policies", "provider_adapters")
_PLACE = Path(__file__).parents[1]


def main() -> None:
    """Run the command line; never returns."""
    try:
        # It and the entry points are what the installed package says of itself.
        installed = distribution("pixgate")
    except PackageNotFoundError:
        sys.exit("Error: pixgate is not installed for this Python; in a checkout: make setup")
    if name := foreign_package(installed):
        sys.exit(
            f"Error: the Python package {name!r} here is not pixgate's; "
            "install pixgate in an environment of its own"
        )
    from gateway.app.commands.main import pixgate  # noqa: PLC0415 - it would import foreign code

    pixgate(prog_name="pixgate")


def foreign_package(installed: Distribution) -> str | None:
    """
    Name a package of ours in whose place others' code would run, if there is one.

    The names are common: another distribution may have written over ours, or may stand before it in
    the path, as a folder does in which ``python -m gateway`` is called. Two empty package files are
    alike, and harmless.
    """
    digests = {str(each): each.hash for each in installed.files or ()}  # an editable install: none
    for name in _PACKAGES:
        found = find_spec(name)
        if found is None or found.origin is None:
            return name
        file = Path(found.origin)
        content = urlsafe_b64encode(sha256(file.read_bytes()).digest()).decode().rstrip("=")
        digest = digests.get(f"{name}/__init__.py")
        if file.parents[1] != _PLACE or (digest and digest.value != content):
            return name
    return None


if __name__ == "__main__":
    main()
