"""When a delivery is tried again, and when it is given up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

PAUSES: Final = tuple(
    timedelta(seconds=each)
    for each in (
        *(5, 30, 120, 600, 1_800, 3_600, 7_200),
        *(14_400, 28_800, 43_200, 72_000, 86_400),
    )
)
"""Between two tries: 13 tries in 72 hours, a long weekend."""
TRIES: Final = len(PAUSES) + 1
GIVEN_UP_AFTER: Final = timedelta(hours=72)
"""An endpoint that has taken nothing for so long is paused, however few tries each event had."""
LONGEST_RETRY_AFTER: Final = timedelta(hours=1)
_SPREAD: Final = 0.2
"""Deliveries that failed together are not tried together again."""


def pause_after(
    tries: int, retry_after: timedelta | None, chance: Callable[[], float]
) -> timedelta | None:
    """
    Return the pause after so many tries; None when that was the last.

    Args:
        tries: From 1.
        retry_after: The endpoint's own wish, which is followed up to an hour.
        chance: Numbers from 0 up to 1.
    """
    if tries >= TRIES:
        return None
    planned = PAUSES[tries - 1] * spread(chance)
    return max(planned, min(retry_after or planned, LONGEST_RETRY_AFTER))


def spread(chance: Callable[[], float]) -> float:
    """Return a factor of 1 ± 20 %."""
    return 1 - _SPREAD + 2 * _SPREAD * chance()
