"""All records under one trace id: requests, attempts to pay, acts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.audit.model import AuditSearch
from gateway.audit.service import AuditEntry, find_acts
from gateway.core.access import Staff, requires
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import Paging
from gateway.request_log.model import LoggedRequest, RequestSearch
from gateway.request_log.store import RequestRecords
from gateway.store.kernel.database import Database
from gateway.traces.explanations import Circumstances, CircumstancesInScope, explain, refusal_of
from gateway.traces.model import ExplainedRequestDocument, TracedAttempt, TraceDocument
from gateway.traces.records import TracedRecords

_ACTS: Final = Right(Area.AUDIT, Action.READ)
_ALL: Final = Paging(1, 100)
"""A trace id is one call's; whoever gives one to a thousand calls is shown the newest of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """
    All records under one trace id.

    Attributes:
        acts: None for who may not read the audit log.
        explained: The newest refused request, else the newest; None without any.
    """

    trace_id: str
    requests: Sequence[LoggedRequest]
    attempts: Sequence[TracedAttempt]
    acts: Sequence[AuditEntry] | None
    explained: ExplainedRequestDocument | None

    def to_document(self, reader: Staff) -> TraceDocument:
        """Return the trace as a document; acts only if the reader may see them."""
        document: TraceDocument = {
            "trace_id": self.trace_id,
            "requests": [each.to_document() for each in self.requests],
            "attempts": [each.to_document() for each in self.attempts],
        }
        if self.explained is not None:
            document["explained"] = self.explained
        if self.acts is not None:
            document["audit"] = [each.to_document(reader) for each in reversed(self.acts)]
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """
    Reads all records under a trace id from the store.

    Attributes:
        flush: Stores the requests that wait here to be stored; other processes do each second.
        needed: The permission that each row of partners needs, by the row's name.
    """

    database: Database
    requests: RequestRecords
    flush: Callable[[], Awaitable[object]]
    records: TracedRecords
    needed: Mapping[str, str]

    @requires(Area.REQUEST_LOG, Action.READ)
    async def read(self, who: Staff, trace_id: str) -> Trace:
        """
        Read everything under a trace id: requests, tries to pay, acts.

        Acts are for who may read the audit log.

        Raises:
            ServiceError: ``NOT_FOUND`` (404) where nothing of it is in scope.
            StoreUnavailable: as stores do.
        """
        scope = who.scope
        requests = await self._requests(scope, trace_id)
        attempts = await self.records.attempts_of(trace_id, scope)
        reads_acts = who.person is None or who.person.may(_ACTS)
        acts = await self._acts(scope, trace_id) if reads_acts else None
        if not (requests or attempts or acts):
            raise ServiceError(NOT_FOUND, "no_row")
        return Trace(
            trace_id=trace_id,
            requests=requests,
            attempts=attempts,
            acts=acts,
            explained=await self._explained(scope, requests) if requests else None,
        )

    @requires(Area.REQUEST_LOG, Action.READ)
    async def explain(self, who: Staff, trace_id: str) -> ExplainedRequestDocument:
        """
        Read why a request was refused, and the change that would allow it.

        Explains the newest refused request under the trace id, or else the newest request.

        Raises:
            ServiceError: ``NOT_FOUND`` (404) where no request of it is in scope.
            StoreUnavailable: as stores do.
        """
        requests = await self._requests(who.scope, trace_id)
        if not requests:
            raise ServiceError(NOT_FOUND, "no_row")
        return await self._explained(who.scope, requests)

    async def _explained(
        self, scope: CompanyScope, requests: Sequence[LoggedRequest]
    ) -> ExplainedRequestDocument:
        """Explain the first refused request, or the first one."""
        line = next((each for each in requests if each.code), requests[0])
        known = await CircumstancesInScope(self.records).of(
            scope,
            line.client_id,
            line.account_id,
            Circumstances(needed=self.needed.get(line.route, "")),
        )
        return ExplainedRequestDocument(
            request=line.to_document(), explanation=explain(refusal_of(line), known)
        )

    async def _requests(self, scope: CompanyScope, trace_id: str) -> Sequence[LoggedRequest]:
        await self.flush()
        search = RequestSearch(paging=_ALL, trace_id=trace_id)
        return await self.requests.export(search, scope, _ALL.limit)

    async def _acts(self, scope: CompanyScope, trace_id: str) -> Sequence[AuditEntry]:
        search = AuditSearch(paging=_ALL, trace_id=trace_id)
        return (await find_acts(self.database, search, scope)).items
