"""
One request from beginning to end: admission, routing, policies, service, answer, log.

aiohttp's requests and the lane's go the same way; ``Serving._answer`` is the only place
that refuses. Routes are found in our table: aiohttp's router decodes ``%2F`` and has nothing of
them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import parse_qs

import msgspec
from aiohttp import hdrs, web
from multidict import CIMultiDictProxy, istr

from gateway.core import errors, trace
from gateway.core.bank_calls import turn_at_bank
from gateway.core.calls import Call, Policy, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.reasons import Unsigned
from gateway.core.waiting import unmeasured_wait
from gateway.http.admission import Admission, Shed
from gateway.http.documents import ReadyMade
from gateway.http.rendering import render, render_refusal, translate
from gateway.http.route import Answer, RefusedPath, Route
from gateway.http.table import PlacedRoute, Table
from gateway.net.server.lane import Lane, Reply, Request, WholeRequest, is_whole
from gateway.net.server.listener import LANE
from gateway.net.server.request import (
    BodyTooLarge,
    MalformedBody,
    RequestTimeout,
    address_of,
    certificate_of,
    declared_bytes,
    expect_nothing,
    read_body,
    target,
)
from gateway.net.server.writing import Pieces, write_pieces
from gateway.telemetry.ports import Event
from gateway.telemetry.records import AccessRecord, Observer, RequestObserver, begin_record

TRACE_ID: Final = istr("X-Trace-ID")
_TRACEPARENT: Final = istr("traceparent")
_TRACESTATE: Final = istr("tracestate")


class BeginTrace(Protocol):
    """Begins the trace of a request; see ``begin_trace``."""

    def __call__(
        self, headers: CIMultiDictProxy[str], observer: Observer, *, uuids: bool
    ) -> tuple[str, str]:
        """Return our trace id, and the W3C trace id if its digits differ."""
        ...


def begin_trace(
    headers: CIMultiDictProxy[str], observer: Observer, *, uuids: bool
) -> tuple[str, str]:
    """
    Make the request's trace the current one, for logs and for banks.

    A caller's ``traceparent`` is sent on to banks with any id.

    Returns:
        Our trace id, and the W3C trace id where that has other digits.
    """
    sent, parents = headers.getall(TRACE_ID, ()), headers.getall(_TRACEPARENT, ())
    if not sent and not parents:
        trace_id = trace.new_trace_id()
        return trace_id, trace.begin(trace_id)
    trace_id = find_trace_id(sent, parents, observer, uuids=uuids)
    states = headers.getall(_TRACESTATE, ()) if parents else ()
    return trace_id, trace.begin(trace_id, parents, states)


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


_NOWHERE: Final = (errors.ROUTE_UNKNOWN, errors.METHOD_NOT_ALLOWED)
READING: Final = ("GET", "HEAD")
_UNREAD = {
    BodyTooLarge: errors.BODY_TOO_LARGE,
    RequestTimeout: errors.REQUEST_TIMEOUT,
    MalformedBody: errors.MALFORMED_REQUEST,
}
_UNKNOWN = frozenset({"missing", "malformed", "wrong_scheme", "invalid", "revoked", "expired"})
"""Why a caller is not known, where a route asks who it is without asking for a right."""
_AUTH = {
    **{reason: reason for reason in (*_UNKNOWN, "throttled", "unavailable")},
    "address_blocked": "throttled",
}
"""The result of asking who it is, by the reason; for any other reason nobody was asked yet."""
_UNSIGNED = {reason: reason for reason in (*map(str, Unsigned), "throttled")}
"""The same of a caller whose secret was right, and whose payout was not signed as it must."""
_UNPROVEN = 401
# Looking a member up by its name costs Python 3.11 a call each time.
_STRANGERS: Final = Priority.STRANGERS
_PAGES: Final = Priority.PAGES
_CREDENTIAL: Final = {
    "basic": hdrs.AUTHORIZATION,
    "bearer": hdrs.AUTHORIZATION,
    "session": hdrs.COOKIE,
}
"""The header that shows a credential, by the scheme of the gate."""
_ALLOWED: Final[Mapping[str, str]] = {hdrs.ALLOW: ", ".join(READING)}


class Exchange(msgspec.Struct):
    """
    One request and its data so far.

    Attributes:
        path: As sent, percent-encoded, without the query.
        query: As sent, without the question mark; empty when there is none.
        started: The clock's reading, in seconds.
        place: The route; None before it is found.
        priority: The class that it was admitted in; None where it was not.
        call: The input of policies; None before any policy runs.
        rest: The body of an answer that is written piece by piece.
    """

    path: str
    query: str
    record: AccessRecord
    started: float
    place: PlacedRoute | None = None
    priority: Priority | None = None
    call: Call | None = None
    rest: Pieces | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """
    The application of the public listener.

    Attributes:
        pages: Ready-made documents by path, open to everybody.
        body_deadline_s: The longest a body may take to arrive, in seconds.
        uuid_traces: Accept only UUIDs as a caller's trace id.
        begin: Makes the request's trace the current one, as ``begin_trace`` does.
        lane: How targets begin whose plain requests the listener reads itself, because no answer
            to them has pieces; empty for none.
        links: The ``Link`` of a refusal to the page of its code, by code.
        absent: Pages that a browser is shown for an unknown path, by the prefix of the path.
        alter: Only in tests that end the process within an answer.
    """

    table: Table
    pages: Mapping[str, ReadyMade]
    admission: Admission
    observer: RequestObserver
    body_deadline_s: float
    uuid_traces: bool
    begin: BeginTrace = begin_trace
    clock: Callable[[], float] = time.perf_counter
    lane: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, ReadyMade] = field(default_factory=dict)
    alter: Callable[[Exchange, Reply], None] | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request of aiohttp's."""
        exchange = self._begin(request)
        reply = await self._answer(request, exchange)
        if exchange.rest is None:
            self._tell(exchange)
            return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
        answer = web.StreamResponse(status=reply.status, headers=reply.headers)
        await self._stream(request, exchange, answer, exchange.rest)
        return answer

    async def handle_whole(self, request: WholeRequest) -> Reply:
        """Answer a request of the lane."""
        exchange = self._begin(request)
        reply = await self._answer(request, exchange)
        self._tell(exchange)
        return reply

    async def _answer(self, request: Request, exchange: Exchange) -> Reply:
        """Serve, and render every error; a file's further pieces hold no place."""
        try:
            reply = await self._serve(request, exchange)
        except Exception as problem:  # noqa: BLE001 - the last resort: the caller gets a 500
            reply = await self._refused(request, exchange, problem)
        finally:
            if exchange.priority is not None:
                self.admission.leave(exchange.priority)
        record = exchange.record
        reply.headers[TRACE_ID] = record.trace_id
        reply.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
        record.status = reply.status
        if self.alter is not None:
            self.alter(exchange, reply)
        if exchange.rest is None:
            record.bytes_out = len(reply.body or b"")
        return reply

    def _begin(self, request: Request) -> Exchange:
        started = self.clock()
        trace_id, w3c = self.begin(request.headers, self.observer, uuids=self.uuid_traces)
        record = AccessRecord(trace_id=trace_id, method=request.method, address=address_of(request))
        record.w3c_trace_id = w3c
        begin_record(record)
        path, query = target(request)
        return Exchange(path, query, record, started)

    async def _refused(self, request: Request, exchange: Exchange, problem: Exception) -> Reply:
        """Refuse; the refusal of an unknown path is in the caller's language."""
        if isinstance(problem, Shed) and problem.hold_s:
            await asyncio.sleep(problem.hold_s)
        if is_nowhere(problem) and (knows := self.table.knows(exchange.path)):
            exchange.call = await who_asks(request, knows)
        elif isinstance(problem, ServiceError):
            await self._keep(request, exchange, problem)
        return self._refuse(request, exchange, problem)

    async def _keep(self, request: Request, exchange: Exchange, problem: ServiceError) -> None:
        """Read the body of a refused form, if its surface keeps forms."""
        place, call = exchange.place, exchange.call
        if place is None or call is None or problem.error is not place.surface.keeps:
            return
        if place.route.limits.body_bytes and not call.asked.body:
            with suppress(ServiceError):
                call.asked.body = await self._body(request, exchange, place.route, call)

    async def _stream(
        self, request: web.Request, exchange: Exchange, answer: web.StreamResponse, rest: Pieces
    ) -> None:
        """Write an answer in pieces; its end is recorded when it was written or cut."""
        try:
            await write_pieces(request, answer, rest)
        except Exception as problem:
            cut = why_cut(problem, exchange.place)
            # an answer that refuses has its reason already
            exchange.record.reason = exchange.record.reason or cut
            raise ConnectionResetError(cut) from problem
        finally:
            self._tell(exchange)

    def _tell(self, exchange: Exchange) -> None:
        record = exchange.record
        _describe(exchange.call, record)
        record.duration_s = self.clock() - exchange.started - record.waited_s
        self.observer.request(record)

    async def _show(self, page: ReadyMade, request: Request, exchange: Exchange) -> Reply:
        """Answer with a ready-made document, or refuse: overloaded, no method."""
        exchange.record.route = page.name
        waiting = self.admission.admit(page.priority)
        if waiting is not None:
            await waiting
        exchange.priority = page.priority
        if request.method not in READING:
            raise ServiceError(errors.METHOD_NOT_ALLOWED, "method", _ALLOWED)
        return page.reply(request.headers.get(hdrs.ACCEPT_ENCODING, ""))

    async def _find(
        self, request: Request, exchange: Exchange
    ) -> tuple[PlacedRoute, Mapping[str, str]]:
        """Find the route and admit the request, or refuse: overloaded, no path, no method."""
        found = self.table.find(exchange.path)
        place, priority = found.places.get(request.method) if found else None, _STRANGERS
        if place is not None:
            exchange.place = place
            record = exchange.record
            record.surface, record.route = place.surface.name, place.route.name
            record.path_template = place.template
            credential = _CREDENTIAL.get(place.gate.scheme)
            if credential is None or credential in request.headers:
                priority = place.route.priority
        waiting = self.admission.admit(priority)
        if waiting is not None:
            await waiting
        exchange.priority = priority
        if found is None:
            raise ServiceError(errors.ROUTE_UNKNOWN, "no_route")
        if place is None:
            raise ServiceError(errors.METHOD_NOT_ALLOWED, "method", {hdrs.ALLOW: found.allow})
        return place, {**found.path, **place.fixed} if place.fixed else found.path

    async def _serve(self, request: Request, exchange: Exchange) -> Reply:
        """Serve a document; or find the route, run the policies, read the body, run and render."""
        page = self.pages.get(exchange.path)
        if page is not None:
            return await self._show(page, request, exchange)
        place, path = await self._find(request, exchange)
        call = exchange.call = _call(request, exchange, place, path)
        route = place.route
        limit = route.limits.body_bytes
        if limit:
            call.asked.read_body = partial(self._read, request, limit)
        asking = ask(place.gate.policies, call)
        if asking is not None:
            await self._asked(asking, exchange, call)
        if limit and not call.asked.body:
            call.asked.body = await self._body(request, exchange, route, call)
        if route.waits:
            shown = await self._serve_waiting(place, exchange, call)
        elif call.on_bank_call is None:
            shown = await route.serve(place.gate.admits(call), call.asked)
        else:
            shown = await self._serve_person(place, exchange, call)
        return self._render(shown, route, exchange, call)

    def _render(self, shown: Any, route: Route[Any], exchange: Exchange, call: Call) -> Reply:  # noqa: ANN401 - of any route
        """Render a route's result, and record its facts about the request."""
        if call.on_success is not None:
            call.on_success()
        if isinstance(shown, Answer) and shown.rest is not None:
            exchange.rest = counted(exchange.record, shown.content, shown.rest)
        if call.asked.unknown_fields:
            self.observer.count(Event.UNKNOWN_FIELD, route.name)
        return render(shown, route.status, call.headers)

    async def _serve_waiting(self, place: PlacedRoute, exchange: Exchange, call: Call) -> Any:  # noqa: ANN401 - of any route
        """Run a route that may wait: meanwhile it holds no place, and the time is not its own."""

        @contextmanager
        def wait() -> Iterator[None]:
            began = self.clock()
            try:
                with self.admission.released(place.route.priority):
                    yield
            finally:
                exchange.record.waited_s += self.clock() - began

        before = unmeasured_wait.set(wait)
        try:
            return await place.route.serve(place.gate.admits(call), call.asked)
        finally:
            unmeasured_wait.reset(before)

    async def _serve_person(self, place: PlacedRoute, exchange: Exchange, call: Call) -> Any:  # noqa: ANN401 - of any route
        """Run a route for a person, whose reads of banks are charged and have turns."""
        charge, priority = call.on_bank_call, exchange.priority

        def turn(bank: str) -> AbstractAsyncContextManager[None]:
            if charge is not None:
                charge()
            return self.admission.at_bank(priority or _PAGES, bank)

        before = turn_at_bank.set(turn)
        try:
            return await place.route.serve(place.gate.admits(call), call.asked)
        finally:
            turn_at_bank.reset(before)

    async def _asked(self, asking: Awaitable[None], exchange: Exchange, call: Call) -> None:
        """Wait for the policies; until the caller is known the request has the stranger class."""
        priority = exchange.priority
        if priority is None or call.principal is not None or call.person is not None:
            await asking
            return
        self.admission.doubt(priority)
        try:
            await asking
        finally:
            self.admission.trust(priority)

    async def _body(
        self, request: Request, exchange: Exchange, route: Route[Any], call: Call
    ) -> bytes:
        """Read the body; slow unauthenticated bodies wait in slots of their own."""
        limit = route.limits.body_bytes
        is_known = call.principal is not None or call.person is not None
        if is_known or is_whole(request) or exchange.priority is None:
            return await self._read(request, limit)
        with self.admission.waits_for_stranger(exchange.priority, route.name, call.asked.address):
            return await self._read(request, limit)

    async def _read(self, request: Request, limit: int) -> bytes:
        """Read the body within its size and time."""
        try:
            return await read_body(request, limit, self.body_deadline_s)
        except tuple(_UNREAD) as problem:
            raise ServiceError(_UNREAD[type(problem)], "body") from problem
        except ConnectionError as problem:
            raise ServiceError(errors.REQUEST_TIMEOUT, "caller_gone") from problem

    def _refuse(self, request: Request, exchange: Exchange, problem: Exception) -> Reply:
        """Render a refusal; an exception gets its route's code."""
        place, record, call = exchange.place, exchange.record, exchange.call
        refusal = translate(problem, place)
        record.code, record.reason = refusal.error.code, refusal.reason
        record.field = refusal.field
        wants_page = "text/html" in request.headers.get(hdrs.ACCEPT, "")
        refuse = self.table.refuse(exchange.path, place, wants_page=wants_page)
        if refuse is not None:
            asked = refused_path(request, exchange.path, exchange.query, record.trace_id)
            shown = refuse(refusal, call, asked)
            return render(shown, refusal.error.status, call.headers if call else {})
        if wants_page and refusal.error is errors.ROUTE_UNKNOWN:
            for prefix, page in self.absent.items():
                if exchange.path.startswith(prefix):
                    return page.reply(request.headers.get(hdrs.ACCEPT_ENCODING, ""))
        reply = render_refusal(
            refusal,
            place,
            record.trace_id,
            call.headers if call else {},
            explains=self.table.explains(exchange.path, place),
        )
        if link := self.links.get(refusal.error.code):
            reply.headers[hdrs.LINK] = link
        return reply


def application(serving: Serving) -> web.Application:
    """Make the application that answers every request of the public listener."""
    app = web.Application()
    everything = _Everything("/")
    everything.add_route("*", serving.handle, expect_handler=expect_nothing)
    app.router.register_resource(everything)
    if serving.lane:
        app[LANE] = Lane(serving.lane, serving.handle_whole)
    return app


class _Everything(web.PlainResource):
    """Every target, ``*`` too: aiohttp answers one without a route before any middleware."""

    async def resolve(self, request: web.Request) -> tuple[web.UrlMappingMatchInfo, set[str]]:
        return web.UrlMappingMatchInfo({}, next(iter(self))), set()


def ask(policies: Sequence[Policy], call: Call) -> Awaitable[None] | None:
    """
    Run every policy in order; raises the first refusal.

    Returns:
        None when all have accepted the call, else an awaitable: from the
        first policy on that has to wait itself.
    """
    for place, policy in enumerate(policies, 1):
        waiting = policy(call)
        if waiting is not None:
            return _ask_on(waiting, policies[place:], call)
    return None


async def _ask_on(waiting: Awaitable[None], policies: Sequence[Policy], call: Call) -> None:
    """Await one policy, then run the others."""
    await waiting
    for policy in policies:
        further = policy(call)
        if further is not None:
            await further


def _call(
    request: Request, exchange: Exchange, place: PlacedRoute, path: Mapping[str, str]
) -> Call:
    route, headers = place.route, request.headers
    declared = declared_bytes(request)
    if declared > place.surface.body_bytes:
        raise ServiceError(errors.BODY_TOO_LARGE, "declared")
    exchange.record.bytes_in = declared
    asked = RawRequest(
        method=request.method,
        target=exchange.path,
        path=path,
        query=_query(exchange.query) if exchange.query else {},
        authorization=headers.getall(hdrs.AUTHORIZATION, ()),
        content_type=headers.get(hdrs.CONTENT_TYPE),
        content_encoding=headers.get(hdrs.CONTENT_ENCODING),
        headers=headers,
        address=exchange.record.address,
        certificate=partial(certificate_of, request),
    )
    return Call(
        asked=asked,
        needs=route.needs,
        quota=route.limits.quota,
        parameters=route.takes.parameters,
    )


def _query(query: str) -> Mapping[str, list[str]]:
    """Read the query, every value of every name; bytes that are not UTF-8 match nothing."""
    return parse_qs(query, keep_blank_values=True, errors="surrogateescape")


def _describe(call: Call | None, record: AccessRecord) -> None:
    """Record the caller and the subject, as far as established."""
    if call is None:
        return
    if call.principal is not None:
        record.auth = _UNSIGNED.get(record.reason, "ok")
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


def is_nowhere(problem: Exception) -> bool:
    """Return whether the path does not exist, or does not have the method."""
    return isinstance(problem, ServiceError) and problem.error in _NOWHERE


async def who_asks(request: Request, knows: Sequence[Policy]) -> Call | None:
    """Return a call with its user; None for an unauthenticated caller."""
    asked = RawRequest(path={}, headers=request.headers, address=address_of(request))
    call = Call(asked=asked, needs=None, quota="")
    try:
        waiting = ask(knows, call)
        if waiting is not None:
            await waiting
    except Exception:  # noqa: BLE001 - it is refused anyway, then as nobody in particular
        return None
    return call


def refused_path(request: Request, path: str, query: str, trace_id: str) -> RefusedPath:
    """Describe the refused request."""
    target = f"{path}?{query}" if query else path
    is_read = request.method in READING
    return RefusedPath(target=target, is_read=is_read, trace_id=trace_id, headers=request.headers)


async def counted(record: AccessRecord, first: bytes, rest: Pieces) -> Pieces:
    """Join the first bytes of a body with the rest, and count the written bytes."""
    async with aclosing(rest):
        if first:
            record.bytes_out = len(first)
            yield first
        async for piece in rest:
            record.bytes_out += len(piece)
            yield piece


def why_cut(problem: Exception, place: PlacedRoute | None) -> str:
    """Return why an answer is incomplete: caller gone, caller too slow, or our failure."""
    match problem:
        case ConnectionError():
            return "caller_gone"
        case TimeoutError():
            return "caller_slow"
        case _:
            return translate(problem, place).reason
