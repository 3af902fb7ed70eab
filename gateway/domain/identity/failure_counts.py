"""Wrong passwords and codes, counted for all processes, and the port to the counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """
    Wrong passwords or codes in a row, or in a window, under one key.

    Attributes:
        key: ``account_ip``, ``ip``, ``account`` or ``factor`` and what it counts.
        count: In the window that began at ``since``.
        blocked_until: Nothing is tried before then.
        blocks: How often it was blocked, for doubling.
    """

    key: str
    count: int
    since: datetime
    blocked_until: datetime | None = None
    blocks: int = 0


class FailureCounts(Protocol):
    """Wrong passwords and codes, counted for all processes."""

    async def find(self, keys: Sequence[str]) -> Sequence[Failures]:
        """Return what is counted under these keys."""
        ...

    async def change(self, key: str, next_of: Callable[[Failures | None], Failures]) -> Failures:
        """Replace one by what follows it, in one transaction; return what follows."""
        ...

    async def clear(self, keys: Sequence[str]) -> None:
        """Forget what is counted under these keys."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what began and ended before an instant; return how many."""
        ...
