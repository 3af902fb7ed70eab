"""What several tests of provider block share."""

from __future__ import annotations

import difflib


def removed(before: str, after: str) -> list[str]:
    """Return the lines of a text that another lacks."""
    compared = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in compared if line.startswith("- ")]
