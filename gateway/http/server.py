"""
One request from beginning to end: admitted, found, judged, served, answered, told.

What needs no waiting is done at once: a refusal is written while its request is
being read. This is the only place that refuses, and the only one that tells.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec
from aiohttp import hdrs
from multidict import CIMultiDictProxy, istr

from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call, Policy, RawRequest
from gateway.http.admission import Admission
from gateway.http.nowhere import READING, is_nowhere, refused_path, who_asks
from gateway.http.pages import Page
from gateway.http.rendering import render, render_refusal, translate
from gateway.http.route import Answer
from gateway.http.streams import counted, why_cut
from gateway.http.table import RoutedRow, Table
from gateway.net.server.reply import Reply, Written
from gateway.net.server.request import BodyTooLarge, MalformedBody, Request, RequestTimeout
from gateway.net.server.streaming import Pieces, write_pieces
from gateway.telemetry import trace
from gateway.telemetry.ports import Event
from gateway.telemetry.records import AccessRecord, Observer, RequestObserver, begin_record

TRACE_ID: Final = istr("X-Trace-ID")
_TRACEPARENT: Final = istr("traceparent")
_TRACESTATE: Final = istr("tracestate")


def begin_trace(
    headers: CIMultiDictProxy[str], observer: Observer, *, uuids: bool
) -> tuple[str, str]:
    """
    Make the request's trace the current one, for logs and for banks.

    A caller's ``traceparent`` goes on to banks whatever the id is.

    Returns:
        Our trace id, and the W3C trace id where that has other digits.
    """
    sent, parents = headers.getall(TRACE_ID, ()), headers.getall(_TRACEPARENT, ())
    if not sent and not parents:
        return trace.begin_ours(), ""
    trace_id = find_trace_id(sent, parents, observer, uuids=uuids)
    trace.begin(trace_id)
    return trace_id, trace.begin_parent(trace_id, parents, headers.getall(_TRACESTATE, ()))


def find_trace_id(
    sent: Sequence[str], parents: Sequence[str], observer: Observer, *, uuids: bool
) -> str:
    """Take the caller's id, or continue its W3C trace; ``uuids`` takes no other form."""
    if not sent:
        return (trace.continued(parents) if parents else None) or trace.new_trace_id()
    accepted = trace.accepted(sent)
    if accepted and not (uuids and not trace.is_uuid(accepted)):
        return accepted
    observer.count(Event.TRACE_ID_REPLACED, "unacceptable")
    return trace.new_trace_id()


_UNREAD = {
    BodyTooLarge: errors.BODY_TOO_LARGE,
    RequestTimeout: errors.REQUEST_TIMEOUT,
    MalformedBody: errors.MALFORMED_REQUEST,
}
_UNKNOWN = frozenset({"missing", "malformed", "wrong_scheme", "invalid", "revoked", "expired"})
"""Why a caller is not known, where a row asks who it is without asking for a right."""
_AUTH = {
    **{reason: reason for reason in (*_UNKNOWN, "throttled", "unavailable")},
    "address_blocked": "throttled",
}
"""The result of asking who it is, by the reason; for any other reason nobody was asked yet."""
_UNPROVEN = 401
_ALLOWED: Final[Mapping[str, str]] = {hdrs.ALLOW: ", ".join(READING)}


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


class Exchange(msgspec.Struct):
    """
    One request and what is known of it so far.

    Attributes:
        started: The clock's reading, in seconds.
        place: The row; None before it is found.
        call: What policies examine; None before there are any to ask.
    """

    request: Request
    record: AccessRecord
    started: float
    place: RoutedRow | None = None
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """Answers every request of the public listener."""

    serving: Serving

    def answer(self, request: Request) -> Reply | Coroutine[Any, Any, Reply | Written]:
        """Answer one request, or return what has to be waited for; raises nothing."""
        exchange = self._begin(request)
        try:
            outcome = self._start(exchange)
        except Exception as problem:  # noqa: BLE001 - the last resort: the caller gets a 500
            if is_nowhere(problem) and (knows := self.serving.table.knows(request.path)):
                return self._refuse_person(exchange, problem, knows)
            outcome = self._refuse(exchange, problem)
        return self._end(exchange, outcome) if isinstance(outcome, Reply) else outcome

    def _begin(self, request: Request) -> Exchange:
        """Note that a request has come."""
        serving = self.serving
        started = serving.clock()
        trace_id, w3c = begin_trace(request.headers, serving.observer, uuids=serving.uuid_traces)
        record = AccessRecord(trace_id=trace_id, method=request.method, address=request.address)
        record.w3c_trace_id = w3c
        begin_record(record)
        serving.admission.in_flight += 1
        return Exchange(request, record, started)

    def _end(self, exchange: Exchange, reply: Reply) -> Reply:
        """Complete the answer, and tell of it."""
        exchange.record.bytes_out = len(reply.body)
        self._complete(exchange, reply)
        self._tell(exchange)
        return reply

    def _complete(self, exchange: Exchange, reply: Reply) -> None:
        """Give an answer what every answer has."""
        reply.trace_id = exchange.record.trace_id
        reply.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
        exchange.record.status = reply.status

    def _tell(self, exchange: Exchange) -> None:
        """Note that a request was answered."""
        record = exchange.record
        self.serving.admission.in_flight -= 1
        _describe(exchange.call, record)
        record.duration_s = self.serving.clock() - exchange.started
        self.serving.observer.request(record)

    async def _stream(self, exchange: Exchange, reply: Reply, rest: Pieces) -> Written:
        """Write an answer piece by piece; it is told of when its end is out, or it was cut."""
        self._complete(exchange, reply)
        rest = counted(exchange.record, len(reply.body), rest)
        try:
            return await write_pieces(exchange.request, reply, rest)
        except Exception as problem:  # noqa: BLE001 - what has begun cannot be refused any more
            exchange.record.reason = why_cut(problem, exchange.place)
            return Written(keeps=False)
        finally:
            self._tell(exchange)

    def _start(self, exchange: Exchange) -> Reply | Coroutine[Any, Any, Reply | Written]:
        """Find and judge; what is left is a page, or has to be waited for."""
        page = self.serving.pages.get((request := exchange.request).path)
        if page is not None:
            return self._show(page, exchange)
        place, path = self._find(exchange)
        call = exchange.call = _call(request, place, path)
        exchange.record.bytes_in = request.content_length
        return self._serve(exchange, place, call, ask(place.gate.policies, call))

    def _show(self, page: Page, exchange: Exchange) -> Reply:
        """Answer with a ready-made document, or refuse: overloaded, no method."""
        exchange.record.route = page.name
        self.serving.admission.check()
        if exchange.request.method not in READING:
            raise ServiceError(errors.METHOD_NOT_ALLOWED, "method", _ALLOWED)
        return page.reply(exchange.request.headers.get(hdrs.ACCEPT_ENCODING, ""))

    def _find(self, exchange: Exchange) -> tuple[RoutedRow, Mapping[str, str]]:
        """Name the row and let the request in, or refuse: overloaded, no path, no method."""
        found = self.serving.table.find(exchange.request.path)
        place = found.places.get(exchange.request.method) if found else None
        if place is not None:
            exchange.place = place
            record = exchange.record
            record.surface, record.route = place.surface.name, place.row.name
            record.path_template = place.template
        if place is None or place.row.name not in place.surface.exempt:
            self.serving.admission.check()
        if found is None:
            raise ServiceError(errors.ROUTE_UNKNOWN, "no_route")
        if place is None:
            raise ServiceError(errors.METHOD_NOT_ALLOWED, "method", {hdrs.ALLOW: found.allow})
        return place, {**found.path, **place.fixed} if place.fixed else found.path

    async def _serve(
        self, exchange: Exchange, place: RoutedRow, call: Call, asking: Awaitable[None] | None
    ) -> Reply | Written:
        """Wait for what the policies left open, read the body, run and show."""
        row = place.row
        try:
            if asking is not None:
                await asking
            if row.limits.body_bytes:
                call.asked.body = await self._body(exchange.request, call, row.limits.body_bytes)
                call.asked.certificate = exchange.request.certificate
            shown = await row.serve(place.gate.admits(call), call.asked)
            if call.on_success is not None:
                call.on_success()
            reply = render(shown, row.status, call.headers)
            rest = shown.rest if isinstance(shown, Answer) else None
        except Exception as problem:  # noqa: BLE001 - the last resort: the caller gets a 500
            reply, rest = self._refuse(exchange, problem), None
        except BaseException:
            self.serving.admission.in_flight -= 1
            raise
        if call.asked.unknown_fields:
            self.serving.observer.count(Event.UNKNOWN_FIELD, row.name)
        return (
            self._end(exchange, reply)
            if rest is None
            else await self._stream(exchange, reply, rest)
        )

    async def _body(self, request: Request, call: Call, limit: int) -> bytes:
        """Read the body; strangers who send theirs slowly wait apart from everybody else."""
        is_known = call.principal is not None or call.person is not None
        if is_known or request.is_complete:
            return await self._read(request, limit)
        with self.serving.admission.waits_for_stranger(request.address):
            return await self._read(request, limit)

    async def _read(self, request: Request, limit: int) -> bytes:
        """Read the body within its size and time."""
        try:
            return await request.read(limit, self.serving.body_deadline_s)
        except tuple(_UNREAD) as problem:
            raise ServiceError(_UNREAD[type(problem)], "body") from problem
        except ConnectionError as problem:
            raise ServiceError(errors.REQUEST_TIMEOUT, "caller_gone") from problem

    async def _refuse_person(
        self, exchange: Exchange, problem: Exception, knows: Sequence[Policy]
    ) -> Reply:
        """Refuse whoever asks, in their own language."""
        try:
            exchange.call = await who_asks(exchange.request, knows, ask)
        except BaseException:
            self.serving.admission.in_flight -= 1
            raise
        return self._end(exchange, self._refuse(exchange, problem))

    def _refuse(self, exchange: Exchange, problem: Exception) -> Reply:
        """Render a refusal; an exception has its row's code."""
        place, record, call = exchange.place, exchange.record, exchange.call
        refusal = translate(problem, place)
        record.code, record.reason = refusal.error.code, refusal.reason
        record.field = refusal.field
        request = exchange.request
        wants_page = "text/html" in request.headers.get(hdrs.ACCEPT, "")
        refuse = self.serving.table.refuse(request.path, place, wants_page=wants_page)
        if refuse is not None:
            shown = refuse(refusal, call, refused_path(request, record.trace_id))
            return render(shown, refusal.error.status, call.headers if call else {})
        return render_refusal(
            refusal,
            place,
            record.trace_id,
            call.headers if call else {},
            explains=self.serving.table.explains(request.path, place),
        )


def ask(policies: Sequence[Policy], call: Call) -> Awaitable[None] | None:
    """
    Ask every policy in order; raises what the first refusal raises.

    Returns:
        None when all have let the call on, else what to wait for: from the
        first policy on that has to wait itself.
    """
    for place, policy in enumerate(policies, 1):
        waiting = policy(call)
        if waiting is not None:
            return _ask_on(waiting, policies[place:], call)
    return None


async def _ask_on(waiting: Awaitable[None], policies: Sequence[Policy], call: Call) -> None:
    """Wait for one policy, then ask the others."""
    await waiting
    for policy in policies:
        further = policy(call)
        if further is not None:
            await further


def _call(request: Request, place: RoutedRow, path: Mapping[str, str]) -> Call:
    """Take what was asked out of the request."""
    row = place.row
    if request.content_length > place.surface.body_bytes:
        raise ServiceError(errors.BODY_TOO_LARGE, "declared")
    headers = request.headers
    asked = RawRequest(
        path=path,
        query=_query(request) if request.query else {},
        authorization=headers.getall(hdrs.AUTHORIZATION, ()),
        content_type=headers.get(hdrs.CONTENT_TYPE),
        content_encoding=headers.get(hdrs.CONTENT_ENCODING),
        headers=headers,
        address=request.address,
    )
    return Call(
        asked=asked,
        needs=row.needs,
        quota=row.limits.quota,
        parameters=row.takes.parameters,
    )


def _query(request: Request) -> Mapping[str, list[str]]:
    """Read the query, every value of every name; bytes that are not UTF-8 match nothing."""
    return parse_qs(request.query, keep_blank_values=True, errors="surrogateescape")


def _describe(call: Call | None, record: AccessRecord) -> None:
    """Tell who called and on what, as far as it was established."""
    if call is None:
        return
    if call.principal is not None:
        record.auth = "ok"
        record.client_id = call.principal.client_id
        record.company_id = call.principal.company_id
    elif call.person is not None:
        record.auth, record.user_id = "ok", call.person.user_id
    elif call.needs is not None or record.reason in _UNKNOWN:
        record.auth = _AUTH.get(record.reason, "invalid" if record.status == _UNPROVEN else "")
    account = call.account or call.out_of_scope
    if account is not None:
        record.account_id = account.id
        record.account_hash = account.derived.hash or account.log_hash
    record.provider = record.provider or (call.account.provider if call.account else "")
    if call.needs is not None:
        record.resource = call.needs.resource
