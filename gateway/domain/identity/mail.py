"""Mail that waits to be sent, and the port to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gateway.domain.kernel.company_scope import CompanyScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A message to a person; ``text`` holds links, so it is shown in the sandbox alone."""

    id: str
    to: str
    subject: str
    text: str = field(repr=False)
    created_at: datetime
    sent_at: datetime | None = None


class Outbox(Protocol):
    """Mail to be sent, and, in the sandbox, to be read."""

    async def put(self, mail: Mail) -> None:
        """Store a message."""
        ...

    async def waiting(self, most: int) -> Sequence[Mail]:
        """Return unsent ones, oldest first."""
        ...

    async def sent(self, mail_id: str, at: datetime) -> None:
        """Note that one went out; its text is forgotten."""
        ...

    async def latest(self, most: int, scope: CompanyScope) -> Sequence[Mail]:
        """
        Return the newest ones, newest first.

        With a limited scope only mail to users who are limited to one of its companies,
        or to exactly all of them.
        """
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was written before an instant, sent or not; return how many."""
        ...
