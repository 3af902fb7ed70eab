"""The audit log as users search and prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSearch:
    """
    Which acts; None for all.

    Texts match whole, or what begins so where they end in ``*``; a trace id
    matches whole.
    """

    paging: Paging
    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act on record: its place in the chain, what it was, and its hash."""

    number: int
    event: AuditEvent
    hash: bytes


class AuditRecord(Protocol):
    """The record of acts, for reading."""

    async def find_acts(
        self, search: AuditSearch, scope: CompanyScope
    ) -> tuple[Sequence[AuditEntry], int]:
        """
        Return a page, newest first, and how many there are.

        A limited scope leaves the acts of one of its companies, or of exactly all of them.
        """
        ...

    async def after(self, number: int, most: int, scope: CompanyScope) -> Sequence[AuditEntry]:
        """Return what follows ``number``, in the order of the chain; ``scope`` as above."""
        ...

    async def verify(self) -> int:
        """Walk the chain; return its length. ValueError names the first broken link."""
        ...
