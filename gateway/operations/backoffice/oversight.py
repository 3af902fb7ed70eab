"""What is watched over: the audit log, requests, callbacks and the sandbox's mail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway.domain.backoffice.callbacks import Callback, Callbacks, CallbackSearch
from gateway.domain.backoffice.lists import (
    AuditEntry,
    AuditRecord,
    AuditSearch,
)
from gateway.domain.backoffice.request_log import (
    LoggedRequest,
    RefusalGroup,
    RequestLog,
    RequestSearch,
)
from gateway.domain.identity.challenges import Mail, Outbox
from gateway.domain.kernel.audit import AcceptedBreak
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.operations.bank.pages import Listed

EXPORTED_AT_MOST: Final = 10_000
"""Acts of one export: some 5 MB, which fit in memory; the next export begins after the last."""

GROUPS_AT_MOST: Final = 100
"""Groups of refusals: more than anybody reads, and every code there is."""

_MAILS: Final = 50
"""Enough to find the link that was sent a moment ago."""

_ONE: Final = Paging(1, 1)


@dataclass(frozen=True, slots=True)
class Proof:
    """
    What walking the audit log has shown.

    Attributes:
        events: How many acts the caller may see.
        problem: The first broken link; empty when the log is whole.
        accepted: Breaks that it is whole but for. Their people and reasons are shown to callers
            who see all companies.
    """

    events: int = 0
    problem: str = ""
    accepted: Sequence[AcceptedBreak] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversight:
    """
    Searches within a company scope.

    Attributes:
        outbox: The sandbox's mail; None in production, where nobody reads it.
    """

    record: AuditRecord
    callbacks: Callbacks
    requests: RequestLog
    outbox: Outbox | None

    async def search_acts(self, scope: CompanyScope, wanted: AuditSearch) -> Listed[AuditEntry]:
        """Return a page of acts, newest first."""
        found, total = await self.record.find_acts(wanted, scope)
        return Listed(items=found, paging=wanted.paging, total=total)

    async def export_acts(self, scope: CompanyScope, after: int) -> Sequence[AuditEntry]:
        """Return the acts that follow a number, in the order of the chain."""
        return await self.record.after(after, EXPORTED_AT_MOST, scope)

    async def prove_acts(self, scope: CompanyScope, _taken: None) -> Proof:
        """Walk the whole chain, whatever the scope: a part of it proves nothing."""
        try:
            length, accepted = await self.record.verify(), await self.record.accepted()
        except ValueError as problem:
            return Proof(problem=str(problem))
        if scope.everything:
            return Proof(events=length, accepted=accepted)
        _, visible = await self.record.find_acts(AuditSearch(paging=_ONE), scope)
        unnamed = [replace(each, proposed_by="", approved_by="", reason="") for each in accepted]
        return Proof(events=visible, accepted=unnamed)

    async def search_callbacks(
        self, scope: CompanyScope, wanted: CallbackSearch
    ) -> Listed[Callback]:
        """Return a page of callbacks, newest first."""
        found, total = await self.callbacks.search(wanted, scope)
        return Listed(items=found, paging=wanted.paging, total=total)

    async def search_requests(
        self, scope: CompanyScope, wanted: RequestSearch
    ) -> Listed[LoggedRequest]:
        """Return a page of requests, newest first."""
        found, total = await self.requests.search(wanted, scope)
        return Listed(items=found, paging=wanted.paging, total=total)

    async def summarize_refusals(
        self, scope: CompanyScope, wanted: RequestSearch
    ) -> Sequence[RefusalGroup]:
        """Return the refusals of a search by code, reason and credential."""
        return await self.requests.summary(wanted, scope, GROUPS_AT_MOST)

    async def latest_mail(self, scope: CompanyScope, _taken: None) -> Sequence[Mail]:
        """Return the newest mail, newest first; none where there is no outbox to read."""
        return [] if self.outbox is None else await self.outbox.latest(_MAILS, scope)
