"""The request log: the redacted access lines of the last thirty days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """
    One served request, as the access line tells it.

    Attributes:
        line: The whole line as JSON; what may stand there is decided by the log.
    """

    at: datetime
    trace_id: str
    surface: str
    route: str
    status: int
    code: str
    client_id: str
    user_id: str
    company_id: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSearch:
    """Which requests; None for all."""

    paging: Paging
    since: datetime
    until: datetime
    trace_id: str | None = None
    route: str | None = None
    status: int | None = None
    client_id: str | None = None
    user_id: str | None = None


class RequestLog(Protocol):
    """Served requests."""

    async def add(self, requests: Sequence[LoggedRequest]) -> None:
        """Store some."""
        ...

    async def search(
        self, search: RequestSearch, scope: CompanyScope
    ) -> tuple[Sequence[LoggedRequest], int]:
        """Return a page, newest first, and how many there are."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what is older; return how many."""
        ...
