"""How many requests are made of a schema: a few, or ten times as many in ``make proofs``."""

from __future__ import annotations

from tests.world.extent import WHOLE


def examples(usual: int) -> int:
    """Return how many are made where ``make test`` makes ``usual``."""
    return usual * (10 if WHOLE else 1)
