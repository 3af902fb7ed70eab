"""Everything under one trace id: what was asked, what was tried at banks, what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.domain.backoffice.explanations import Explanation
from gateway.domain.backoffice.lists import (
    AuditEntry,
    AuditRecord,
    AuditSearch,
    ScopedRecords,
    TracedAttempt,
)
from gateway.domain.backoffice.request_log import LoggedRequest, RequestLog, RequestSearch
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.operations.backoffice.refusals.explanations import (
    Circumstances,
    CircumstancesInScope,
    explain,
    refusal_of,
)

_ALL: Final = Paging(1, 100)
"""A trace id is one call's; whoever gives one to a thousand calls is shown the newest of them."""


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    """A logged request, and why it was answered so."""

    request: LoggedRequest
    explanation: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """
    Everything under one trace id.

    Attributes:
        acts: None for who may not read the audit log.
        explained: The newest refused request, else the newest; None without any.
    """

    trace_id: str
    requests: Sequence[LoggedRequest]
    attempts: Sequence[TracedAttempt]
    acts: Sequence[AuditEntry] | None
    explained: ExplainedRequest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """
    Reads by trace id, within a company scope.

    Attributes:
        needed: The permission that each row of partners needs, by the row's name.
    """

    requests: RequestLog
    records: ScopedRecords
    audit: AuditRecord
    needed: Mapping[str, str]

    async def read(self, scope: CompanyScope, trace_id: str, *, with_acts: bool) -> Trace:
        """
        Return everything, newest request first.

        Raises:
            ServiceError: ``NOT_FOUND`` (404) where nothing of it is in scope.
            StoreUnavailable: as stores do.
        """
        requests = await self._requests(scope, trace_id)
        attempts = await self.records.attempts_of(trace_id, scope)
        acts = await self._acts(scope, trace_id) if with_acts else None
        if not (requests or attempts or acts):
            raise ServiceError(NOT_FOUND, "no_row")
        return Trace(
            trace_id=trace_id,
            requests=requests,
            attempts=attempts,
            acts=acts,
            explained=await self._explained(scope, requests) if requests else None,
        )

    async def explain(self, scope: CompanyScope, trace_id: str) -> ExplainedRequest:
        """
        Say why the newest refused request was refused; without one, of the newest request.

        Raises:
            ServiceError: ``NOT_FOUND`` (404) where no request of it is in scope.
            StoreUnavailable: as stores do.
        """
        requests = await self._requests(scope, trace_id)
        if not requests:
            raise ServiceError(NOT_FOUND, "no_row")
        return await self._explained(scope, requests)

    async def _explained(
        self, scope: CompanyScope, requests: Sequence[LoggedRequest]
    ) -> ExplainedRequest:
        """Explain the first that was refused, else the first."""
        line = next((each for each in requests if each.code), requests[0])
        known = await CircumstancesInScope(self.records).of(
            scope,
            line.client_id,
            line.account_id,
            Circumstances(needed=self.needed.get(line.route, "")),
        )
        return ExplainedRequest(line, explain(refusal_of(line), known))

    async def _requests(self, scope: CompanyScope, trace_id: str) -> Sequence[LoggedRequest]:
        search = RequestSearch(paging=_ALL, trace_id=trace_id)
        return await self.requests.export(search, scope, _ALL.limit)

    async def _acts(self, scope: CompanyScope, trace_id: str) -> Sequence[AuditEntry]:
        found, _ = await self.audit.find_acts(AuditSearch(paging=_ALL, trace_id=trace_id), scope)
        return found
