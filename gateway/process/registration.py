"""Registration of a live process, from its start to its end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Now
from gateway.core.key_rotation import LiveProcess
from gateway.core.limits import SharedLimits
from gateway.core.storage import LEASE, StoreUnavailable
from gateway.store.kernel.processes import StoredProcesses

SERVES: Final = "server process"
WORKS: Final = "worker"
"""What the names of processes begin with."""


@dataclass(frozen=True, slots=True)
class Registration:
    """
    The entry of a process.

    Attributes:
        shared: Receives the number of live processes; None where limits are not shared.
    """

    processes: StoredProcesses
    process: LiveProcess
    now: Now
    shared: SharedLimits | None = None

    async def begin(self) -> None:
        """
        Register the process, before it writes anything.

        Raises:
            RuleViolation: its keys conflict with other live processes.
            StoreUnavailable: the store does not answer.
        """
        refuse_conflicts(await self.processes.register(self.process, self.now()))

    async def renew(self) -> None:
        """Renew the entry, and count the live ones; raises StoreUnavailable."""
        await self.processes.renew(self.process, self.now())
        if self.shared is not None:
            alive = await self.processes.alive(self.now())
            self.shared.processes = max(1, len(alive))
            self.shared.serving = max(1, sum(each.name.startswith(SERVES) for each in alive))

    async def end(self) -> None:
        """Remove the entry; with a silent store it expires."""
        with suppress(StoreUnavailable):
            await self.processes.remove(self.process)


def refuse_conflicts(problems: Sequence[str]) -> None:
    """
    Refuse conflicting keys.

    Raises:
        RuleViolation: names the keys in one line.
    """
    if problems:
        seconds = f"{LEASE.total_seconds():.0f} s"
        hint = f"see pixgate keys status; a process that was killed counts for {seconds}"
        message = f"{'; '.join(problems)} ({hint})"
        raise RuleViolation(message)
