"""
How many requests are made of a schema.

A few in `make test`, ten times as many in `make generated`.
"""

from __future__ import annotations

import os

TIMES = int(os.environ.get("TEST_GENERATED", "1"))


def examples(usual: int) -> int:
    """Return how many are made where ``make test`` makes so many."""
    return usual * TIMES
