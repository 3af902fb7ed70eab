"""A process among the live ones: registered at its start, removed at its end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Now
from gateway.core.key_rotation import LiveProcess
from gateway.core.shared_limits import SharedLimits
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
        shared: Told how many processes are alive; None where limits are not shared.
    """

    processes: StoredProcesses
    process: LiveProcess
    now: Now
    shared: SharedLimits | None = None

    async def begin(self) -> None:
        """
        Register the process, before it writes anything.

        Raises:
            RuleViolation: its keys and those of other live processes do not fit.
            StoreUnavailable: the store does not answer.
        """
        refuse_conflicts(await self.processes.register(self.process, self.now()))

    async def renew(self) -> None:
        """Keep the entry, and count the live ones; raises StoreUnavailable."""
        await self.processes.renew(self.process, self.now())
        if self.shared is not None:
            alive = await self.processes.alive(self.now())
            self.shared.processes = max(1, len(alive))
            self.shared.serving = max(1, sum(each.name.startswith(SERVES) for each in alive))

    async def end(self) -> None:
        """Remove the entry; with a silent store it ends by itself."""
        with suppress(StoreUnavailable):
            await self.processes.remove(self.process)


def refuse_conflicts(problems: Sequence[str]) -> None:
    """
    Refuse to go on with keys that do not fit.

    Raises:
        RuleViolation: names them in one line.
    """
    if problems:
        seconds = f"{LEASE.total_seconds():.0f} s"
        told = f"see pixgate keys status; a process that was killed counts for {seconds}"
        message = f"{'; '.join(problems)} ({told})"
        raise RuleViolation(message)
