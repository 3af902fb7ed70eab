"""
One request from beginning to end: found, judged, served, answered, told.

This is the only place that renders a refusal.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from aiohttp import hdrs, web

from gateway.domain import errors
from gateway.domain.calls import Asked, Call
from gateway.domain.errors import ServiceError
from gateway.domain.providers import ProviderError
from gateway.http.admission import Admission
from gateway.http.json import MEDIA_TYPE, dumps, error_body
from gateway.http.pages import Page
from gateway.http.route import Document
from gateway.http.table import Found, Place, Table
from gateway.http.wire.body import BodyTooLarge, MalformedBody, RequestTimeout, read_body
from gateway.telemetry import trace
from gateway.telemetry.records import AccessRecord, RequestObserver, begin_record

_log = logging.getLogger("gateway.http")

_TRACE = "X-Trace-ID"
_UNREAD = {
    BodyTooLarge: errors.BODY_TOO_LARGE,
    RequestTimeout: errors.REQUEST_TIMEOUT,
    MalformedBody: errors.MALFORMED_REQUEST,
}
_AUTH = {"address_blocked": "throttled"}
_READING = ("GET", "HEAD")
_PROVIDER_FAILED = 502
_UNAUTHORIZED = 401
_SECONDS_TO_RETRY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """
    What the public listener serves.

    Attributes:
        pages: Ready-made documents by path, open to everybody.
        body_deadline_s: The longest a body may take to arrive, in seconds.
        uuid_traces: Accept only UUIDs as a caller's trace id.
    """

    table: Table
    pages: Mapping[str, Page]
    admission: Admission
    observer: RequestObserver
    body_deadline_s: float
    uuid_traces: bool
    clock: Callable[[], float] = time.perf_counter


@dataclass(frozen=True, slots=True)
class Server:
    """Answers every request of the public listener."""

    serving: Serving

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; raises nothing but cancellation."""
        serving = self.serving
        started = serving.clock()
        record = AccessRecord(trace_id=self._trace_id(request), method=request.method)
        record.address = request.remote or ""
        trace.begin(record.trace_id)
        begin_record(record)
        serving.admission.in_flight += 1
        try:
            response = await self._answer(request, record)
        finally:
            serving.admission.in_flight -= 1
        response.headers[_TRACE] = record.trace_id
        response.headers[hdrs.CACHE_CONTROL] = "no-store"
        record.status = response.status
        record.bytes_out = len(response.body) if isinstance(response.body, bytes) else 0
        record.duration_s = serving.clock() - started
        serving.observer.request(record)
        return response

    async def _answer(self, request: web.BaseRequest, record: AccessRecord) -> web.Response:
        """Serve, or render the refusal."""
        raw_path = request.rel_url.raw_path
        page = self.serving.pages.get(raw_path)
        found = self.serving.table.find(raw_path)
        place = found.places.get(request.method) if found else None
        call: Call | None = None
        try:
            if page is not None:
                return self._show(page, request.method, record)
            place = self._admit(found, place, record)
            call = self._call(request, found.path if found else {}, place)
            record.bytes_in = request.content_length or 0
            document = await self._serve(request, place, call)
        except ServiceError as refusal:
            return self._refuse(refusal, place, record, call)
        except Exception as problem:  # noqa: BLE001 - the last resort: the caller gets a 500
            return self._refuse(self._translate(problem, place), place, record, call)
        finally:
            _describe(call, record)
        body = dumps(document)
        headers = {hdrs.CONTENT_TYPE: MEDIA_TYPE, **call.headers}
        return web.Response(body=body, headers=headers)

    def _show(self, page: Page, method: str, record: AccessRecord) -> web.Response:
        """Answer with a ready-made document, or refuse: overloaded, no method."""
        record.route = page.name
        self.serving.admission.check()
        if method not in _READING:
            allow = ", ".join(_READING)
            raise ServiceError(errors.METHOD_NOT_ALLOWED, "method", {hdrs.ALLOW: allow})
        return web.Response(body=page.body, headers={hdrs.CONTENT_TYPE: page.content_type})

    def _admit(self, found: Found | None, place: Place | None, record: AccessRecord) -> Place:
        """Name the row and let the request in, or refuse: overloaded, no path, no method."""
        if place is not None:
            record.surface, record.route = place.surface.name, place.row.name
            record.path_template = place.template
        if place is None or place.row.name not in place.surface.exempt:
            self.serving.admission.check()
        if found is None:
            raise ServiceError(errors.ROUTE_UNKNOWN, "no_route")
        if place is None:
            raise ServiceError(errors.METHOD_NOT_ALLOWED, "method", {hdrs.ALLOW: found.allow})
        return place

    def _call(self, request: web.BaseRequest, path: Mapping[str, str], place: Place) -> Call:
        """Take what was asked out of the request."""
        row = place.row
        if (request.content_length or 0) > place.surface.body_bytes:
            raise ServiceError(errors.BODY_TOO_LARGE, "declared")
        headers = request.headers
        asked = Asked(
            path=path,
            query=_query(request) if row.takes.parameters else {},
            authorization=headers.getall(hdrs.AUTHORIZATION, ()),
            content_type=headers.get(hdrs.CONTENT_TYPE),
            content_encoding=headers.get(hdrs.CONTENT_ENCODING),
            address=request.remote or "",
        )
        return Call(asked=asked, needs=row.needs, quota=row.limits.quota)

    async def _serve(self, request: web.BaseRequest, place: Place, call: Call) -> Document:
        """Ask every policy, then read, run and show."""
        for policy in place.gate.policies:
            await policy(call)
        row = place.row
        if row.limits.body_bytes:
            call.asked.body = await self._body(request, row.limits.body_bytes)
        document = await row.serve(place.gate.admits(call), call.asked)
        if call.asked.unknown_fields:
            self.serving.observer.count("unknown_field", row.name)
        return document

    async def _body(self, request: web.BaseRequest, limit: int) -> bytes:
        """Read the body within its size and time."""
        try:
            return await read_body(request, limit, self.serving.body_deadline_s)
        except tuple(_UNREAD) as problem:
            raise ServiceError(_UNREAD[type(problem)], "body") from problem
        except ConnectionError as problem:
            raise ServiceError(errors.REQUEST_TIMEOUT, "caller_gone") from problem

    def _translate(self, problem: Exception, place: Place | None) -> ServiceError:
        """Give an exception its row's code; one that nobody declared is ours: 500."""
        error = place.row.code_of(problem) if place else None
        if error is None:
            _log.error("unhandled", exc_info=problem)
            return ServiceError(errors.INTERNAL, type(problem).__name__)
        reason = problem.reason if isinstance(problem, ProviderError) else type(problem).__name__
        headers: dict[str, str] = {}
        if isinstance(problem, ProviderError) and problem.retry_after is not None:
            headers[hdrs.RETRY_AFTER] = str(max(1, min(round(problem.retry_after), 120)))
        return ServiceError(error, reason, headers)

    def _refuse(
        self,
        refusal: ServiceError,
        place: Place | None,
        record: AccessRecord,
        call: Call | None,
    ) -> web.Response:
        """Render a refusal."""
        error = refusal.error
        record.code, record.reason = error.code, refusal.reason
        headers = {hdrs.CONTENT_TYPE: MEDIA_TYPE, **(call.headers if call else {})}
        if error.status == _UNAUTHORIZED and place is not None:
            headers[hdrs.WWW_AUTHENTICATE] = place.surface.challenge
        if error.status == _PROVIDER_FAILED:
            headers[hdrs.RETRY_AFTER] = str(_SECONDS_TO_RETRY)
        headers.update(refusal.headers)
        return web.Response(
            status=error.status, body=error_body(error, record.trace_id), headers=headers
        )

    def _trace_id(self, request: web.BaseRequest) -> str:
        """Take the caller's trace id where it is acceptable, else make one."""
        sent: Any = request.headers.getall(_TRACE, ())
        accepted = trace.accepted(sent)
        if accepted and not (self.serving.uuid_traces and not trace.is_uuid(accepted)):
            return accepted
        if sent:
            self.serving.observer.count("trace_id_replaced", "unacceptable")
            return trace.new_trace_id()
        parents: Any = request.headers.getall("traceparent", ())
        return trace.continued(parents) or trace.new_trace_id()


def _query(request: web.BaseRequest) -> Mapping[str, list[str]]:
    """Read the query, every value of every name; bytes that are not UTF-8 match nothing."""
    return parse_qs(
        request.rel_url.raw_query_string,
        keep_blank_values=True,
        errors="surrogateescape",
    )


def _describe(call: Call | None, record: AccessRecord) -> None:
    """Tell who called and on what, as far as it was established."""
    if call is None:
        return
    if call.principal is not None:
        record.auth = "ok"
        record.client_id = call.principal.client_id
        record.company_id = call.principal.company_id
    elif call.needs is not None:
        record.auth = _AUTH.get(record.reason, record.reason)
    if call.account is not None:
        record.account_id = call.account.id
        record.provider = record.provider or call.account.provider
    if call.needs is not None:
        record.resource = call.needs.resource
