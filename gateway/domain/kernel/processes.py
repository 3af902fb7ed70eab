"""The processes that are alive, and which keys each of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

KeyIds = Mapping[str, Sequence[str]]
"""By purpose, the ids of the configured keys: first the one written with, empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProcess:
    """
    A process, as operators find it.

    Attributes:
        id: No other process has it.
        name: What it is, its process id and its machine.
    """

    id: str
    name: str
    keys: KeyIds


class Processes(Protocol):
    """
    The register of live processes.

    An entry lasts for ``LEASE`` unless it is renewed: a process that was killed is in it so long.
    Every method raises ``StoreUnavailable`` when the store does not answer.
    """

    async def register(self, process: LiveProcess, now: datetime) -> Sequence[str]:
        """
        Add a process that starts, unless its keys do not fit those of the others.

        Of two that start at the same time the second one is compared with the first.

        Returns:
            The reasons why it was not added, see ``key_conflicts``; none when it was.
        """
        ...

    async def renew(self, process: LiveProcess, now: datetime) -> None:
        """Keep an entry; one that had ended is added again."""
        ...

    async def remove(self, process: LiveProcess) -> None:
        """Remove a process that ends."""
        ...

    async def alive(self, now: datetime) -> Sequence[LiveProcess]:
        """Return the live processes, ordered by name."""
        ...
