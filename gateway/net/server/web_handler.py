"""
Handlers of aiohttp's own kind behind our connections: an application, or a web handler.

Such a handler is given aiohttp's request and returns aiohttp's response, which
writes itself. The rules stay ours: how long a body may take, which headers an
answer has, what an error looks like.

Inner parts of aiohttp 3.14 that this module leans on, each checked by a test:

- ``Request``: ``ATTRS``, ``_finish``, ``_prepare_hook``, ``_read_bytes``;
- ``Application``: ``_make_request(_cls=…)``, by way of ``AppRunner._make_server``.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from aiohttp import hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import StreamWriter
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestHandler
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import INTERNAL
from gateway.net.server.body import read_body
from gateway.net.server.connection import Connection
from gateway.net.server.faults import describe
from gateway.net.server.http_server import Handler
from gateway.net.server.refusals import find_code, find_code_of, is_foreign
from gateway.net.server.reply import Reply, Written
from gateway.net.server.request import Request

WebHandler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Rest = tuple[StreamReader, RequestHandler, AbstractStreamWriter, "asyncio.Task[None]"]
"""What aiohttp makes a request from beside its message."""

_log: Final = logging.getLogger("gateway.net.server")


class Build(Protocol):
    """Makes a request for an application, or for a bare handler."""

    def __call__(self, message: RawRequestMessage, *rest: *Rest) -> WireRequest:
        """Make it."""
        ...


class WireRequest(web.Request):
    """
    aiohttp's request, whose readers nobody can hold open or fill up.

    Attributes:
        received: The request as the connection took it.
    """

    ATTRS = web.Request.ATTRS | frozenset({"received"})

    received: Request

    @property
    def connection(self) -> Connection:
        """The connection it came by."""
        return cast("Connection", self.received.wire)

    def invite(self) -> None:
        """Tell a caller that holds its body back to go on."""
        self.received.invite()

    def finish(self) -> None:
        """Let go of what reading a form has opened."""
        self._finish()

    async def read(self) -> bytes:
        """
        Read the body as ``read_body`` does, within the application's size limit.

        ``text``, ``json`` and the urlencoded ``post`` come this way too. Repeatable.
        """
        if self._read_bytes is None:
            limit = self.client_max_size or sys.maxsize
            deadline_s = self.connection.server.limits.body_deadline_s
            self._read_bytes = await read_body(self, limit, deadline_s)
        return self._read_bytes

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        """Put the listener's own headers on an answer, last before it is written."""
        await super()._prepare_hook(response)
        server = self.connection.server
        response.headers.popall(hdrs.SERVER, None)
        if "X-Trace-ID" not in response.headers:
            response.headers["X-Trace-ID"] = server.refusals.find_trace_id(self.headers)
        if server.draining or not self.received.is_complete:
            response.force_close()
            response.headers["Connection"] = "close"


@dataclass(frozen=True, slots=True)
class Direct:
    """
    Marks a handler of ours, asked without aiohttp's request and response.

    It can be asked with them all the same, by what is put around it.
    """

    handler: Handler

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request that came by one of our connections."""
        outcome = self.handler(cast("WireRequest", request).received)
        answer = outcome if isinstance(outcome, Reply) else cast("Reply", await outcome)
        response = web.Response(status=answer.status, body=answer.body)
        response.headers.popall(hdrs.CONTENT_TYPE, None)
        response.headers.update({**answer.headers, "X-Trace-ID": answer.trace_id})
        for each in answer.cookies:
            response.headers.add(hdrs.SET_COOKIE, each)
        return response


@dataclass(frozen=True, slots=True)
class WebAnswers:
    """Answers requests by a web handler; a ``Handler``."""

    handler: WebHandler
    build: Build

    def __call__(self, received: Request) -> Coroutine[Any, Any, Reply | Written]:
        """Say what to wait for."""
        return self._serve(received)

    async def _serve(self, received: Request) -> Reply | Written:
        """Have it answered; whatever goes wrong, the caller gets an answer."""
        request = self._make(received)
        try:
            return await self._write(request, await self._run(request))
        except Exception as problem:  # noqa: BLE001 - whatever it is, the caller gets an answer
            return _apologise(request, problem)

    def _make(self, received: Request) -> WireRequest:
        """Make aiohttp's request."""
        connection = cast("Connection", received.wire)
        loop = asyncio.get_running_loop()
        request = self.build(
            _without_expectation(received.message),
            received.content,
            cast("RequestHandler", connection),
            StreamWriter(connection, loop),
            cast("asyncio.Task[None]", asyncio.current_task()),
        )
        request.received = received
        return request

    async def _run(self, request: WireRequest) -> web.StreamResponse:
        """Ask the handler; an answer may also be raised."""
        try:
            return await self.handler(request)
        except web.HTTPException as raised:
            return raised
        finally:
            request.finish()

    async def _write(self, request: WireRequest, response: object) -> Reply | Written:
        """Let a response write itself; put our body in the place of aiohttp's."""
        if not isinstance(response, web.StreamResponse):
            return _apologise(request, TypeError())
        if is_foreign(response):
            refusal = _refuse(request, find_code_of(response.status))
            if hdrs.ALLOW in response.headers:
                refusal.headers[hdrs.ALLOW] = response.headers[hdrs.ALLOW]
            return refusal
        await response.prepare(request)
        await response.write_eof()
        return Written(keeps=bool(response.keep_alive))


def build_bare(message: RawRequestMessage, *rest: *Rest) -> WireRequest:
    """Make a request that belongs to no application."""
    return WireRequest(message, *rest, asyncio.get_running_loop())


def application_answers(runner: web.AppRunner) -> WebAnswers:
    """Answer by the application of a runner that is set up."""
    server = cast("web.Server", runner.server)
    make = server.request_factory

    def build(message: RawRequestMessage, *rest: *Rest) -> WireRequest:
        made = make(message, *rest, _cls=WireRequest)  # type: ignore[call-arg]
        return cast("WireRequest", made)

    return WebAnswers(server.request_handler, build)


def _refuse(request: WireRequest, error: ErrorCode) -> Reply:
    """Refuse in the application's place."""
    refusals = request.connection.server.refusals
    return refusals.answer(error, refusals.find_trace_id(request.headers))


def _apologise(request: WireRequest, problem: Exception) -> Reply | Written:
    """Answer what the handler did not; behind part of an answer there is none to give."""
    if request.writer.output_size > 0 or request.connection.transport is None:
        level = logging.DEBUG if isinstance(problem, ConnectionError) else logging.ERROR
        _log.log(level, "connection ended by %s", describe(problem))
        return Written(keeps=False)
    error = find_code(problem, 500)
    answer = _refuse(request, error)
    if error is INTERNAL:
        _log.error("%s, trace id %s", describe(problem), answer.trace_id)
    return answer


def _without_expectation(message: RawRequestMessage) -> RawRequestMessage:
    """Take Expect away: aiohttp answers 417 to one it does not know, and 100 too early."""
    if hdrs.EXPECT not in message.headers:
        return message
    headers = CIMultiDict(message.headers)
    del headers[hdrs.EXPECT]
    return message._replace(headers=CIMultiDictProxy(headers))
