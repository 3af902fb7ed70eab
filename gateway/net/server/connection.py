"""
One caller's connection: reading with deadlines, answering in order, closing cleanly.

A request that can be answered without waiting is answered while its bytes are being
read: no task, no timer, one write. Any other gets a task, and the requests after it
wait their turn.

Inner parts of aiohttp 3.14 that this package depends on, each checked by a test so that
a release without one fails loudly:

- ``BaseProtocol``: ``_buffer_paused``, ``_drain_helper``, ``_loop``, ``_parser``, ``_paused``,
  ``_reading_paused``, ``_pause_reading_for_buffer``, ``_resume_reading_for_buffer``,
  ``_resume_transport_reading``;
- the parser: ``feed_data``, ``message_consumed``, ``set_upgraded``, its
  ``max_msg_queue_size``, ``RawRequestMessage._replace``, the words of ``TOO_MANY_HEADERS``;
- ``streams.EMPTY_PAYLOAD``, ``tcp_helpers.tcp_keepalive``, ``web_protocol.RequestPayloadError``.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from contextvars import copy_context
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from aiohttp import hdrs
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.tcp_helpers import tcp_keepalive
from multidict import CIMultiDictProxy

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import DRAINING, INTERNAL, MALFORMED_REQUEST
from gateway.net.common.descriptors import descriptor_of
from gateway.net.common.runtime import LazyTimer
from gateway.net.server.inbox import RequestQueue, make_parser
from gateway.net.server.peer import without_mapping
from gateway.net.server.reply import (
    Reply,
    UnwritableReply,
    Written,
    describe,
    find_code,
    reply_format,
    to_bytes,
)
from gateway.net.server.request import (
    UNREAD,
    MalformedBody,
    Request,
    RequestTimeout,
    find_flaw,
)

if TYPE_CHECKING:
    from gateway.net.server.http_server import HttpServer

_log: Final = logging.getLogger("gateway.net.server")
_NO_LINGER: Final = struct.pack("ii", 1, 0)
"""Closing drops what was not sent, and resets the connection (socket(7), SO_LINGER)."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Connection(BaseProtocol):
    """
    The protocol of one accepted socket.

    Attributes:
        address: The peer's, or the client's that one of our proxies named; empty
            when the system does not tell.
        counted_as: The address or network whose connections it is one of.
        server: Knows the limits and all other connections.
    """

    __slots__ = (
        "_former",
        "_is_admitted",
        "_is_lingering",
        "_is_new",
        "_queue",
        "_stall_timer",
        "_task",
        "_timer",
        "address",
        "counted_as",
        "server",
    )

    def __init__(self, server: HttpServer, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for ``connection_made``."""
        super().__init__(loop)
        self._parser = parser = make_parser(self, loop, server.limits)
        self.server = server
        self._queue = RequestQueue(parser, server.limits.head_bytes)
        self._timer = LazyTimer(loop, self._on_late)
        # The last one without a body: one with the same head need not be checked again.
        self._former: Request | None = None
        self._task: asyncio.Task[Reply | Written] | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._is_admitted = False
        # Before the first request: its deadline runs from the connection's start.
        self._is_new = True
        self._is_lingering = False
        self.address = self.counted_as = ""

    # --- the socket --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start, or disconnect at once if there is no room."""
        peer = transport.get_extra_info("peername")
        self.address = without_mapping(str(peer[0])) if peer else ""
        if not self.server.admit(self, descriptor_of(transport)):
            cast("asyncio.Transport", transport).abort()
            return
        self._is_admitted = True
        super().connection_made(transport)
        tcp_keepalive(cast("asyncio.Transport", transport))
        self._timer.set_in(self.server.limits.header_deadline_s)

    def connection_lost(self, exc: BaseException | None) -> None:
        """End, and make room for another; a request that has a task is carried through."""
        # From here on everything that refers back to this connection is dropped, so that
        # it is freed at once and not by the garbage collector.
        self._timer.dispose()
        self._cancel_stall_timer()
        self._queue.waiting.clear()
        self._queue.close(ConnectionResetError("the caller hung up"))
        self._queue.release_parser()
        self._parser = self._former = None
        if self._is_admitted:
            self._is_admitted = False
            self.server.release(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and answer what is complete."""
        queue = self._queue
        if queue.closed:
            return
        had_partial = queue.has_partial
        has_more = queue.feed(data)
        if has_more:
            self._is_new = False
            self._timer.clear()
        if queue.has_partial and (has_more or not had_partial) and not self._is_new:
            self._timer.set_in(self.server.limits.header_deadline_s)
        if queue.is_full and not self._buffer_paused:
            self._pause_reading_for_buffer()
        if has_more:
            self._start_waiting()

    def pause_writing(self) -> None:
        """Start the deadline of a caller that takes no bytes; ``close`` would wait for it."""
        super().pause_writing()
        if self.transport is not None:
            self._stall_timer = self._loop.call_later(
                self.server.limits.answer_deadline_s, self.reset
            )

    def resume_writing(self) -> None:
        """Continue: the caller takes its answer."""
        super().resume_writing()
        self._cancel_stall_timer()
        self._start_waiting()

    def send_continue(self) -> None:
        """Ask the caller for the body that it holds back."""
        if self.transport is not None:
            self.transport.write(_CONTINUE)

    def certificate(self, _headers: CIMultiDictProxy[str]) -> bytes:
        """Return the peer's certificate in DER: none, for nobody shows one without TLS."""
        return b""

    def close(self) -> None:
        """Close without an answer; what was written is still delivered."""
        self._queue.waiting.clear()
        self._queue.close(MalformedBody())
        self._timer.clear()
        if self.transport is not None:
            self.transport.close()

    def abort(self) -> None:
        """Close at once; unsent bytes are lost."""
        if self.transport is not None:
            self.transport.abort()

    @property
    def is_last(self) -> bool:
        """Does it take no further request?"""
        return self.server.draining

    @property
    def stream_deadline_s(self) -> float:
        """How long an answer that is written piece by piece may take."""
        return self.server.limits.stream_deadline_s

    async def drained(self) -> None:
        """Wait until there is room for more bytes; ConnectionError when the caller is gone."""
        await self._drain_helper()

    def reset(self) -> None:
        """Close by a reset, not by an end: without chunks, an end would look like a whole body."""
        if self.transport is None:
            return
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.transport.abort()

    def _cancel_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _on_late(self) -> None:
        """Refuse an incomplete request with 408; close an idle connection."""
        if self._is_lingering:
            self.close()
        elif self._buffer_paused or self._reading_paused:
            # We have paused reading ourselves; the caller is not late.
            self._timer.set_in(self.server.limits.header_deadline_s)
        elif self._queue.has_partial:
            self._queue.refuse(RequestTimeout())
            self._start_waiting()
        else:
            self.close()

    # --- requests ----------------------------------------------------------------------------

    def _start_waiting(self) -> None:
        """Start waiting requests in order, until one needs a task or the caller takes no bytes."""
        queue = self._queue
        while queue.waiting and self._task is None and not self._paused:
            self._start(*queue.take())
        if self._buffer_paused and queue.has_room:
            # In a later turn of the loop, so that one caller cannot keep it to itself.
            self._loop.call_soon(self._resume_reading)

    def _resume_reading(self) -> None:
        """Read on after the queue was full."""
        if self._queue.closed:
            return
        self._queue.feed(b"")
        if not self._queue.is_full:
            self._resume_reading_for_buffer()
        self._start_waiting()

    def _start(self, message: RawRequestMessage | Exception, content: StreamReader) -> None:
        """Pass a request to the application, or refuse it."""
        if isinstance(message, Exception):
            self._refuse_unread(find_code(message, HTTPStatus.BAD_REQUEST), "", content)
            return
        request = self._former
        if request is None or request.message is not message:
            request = self._checked(message, content)
        if request is None:
            return
        if self.server.draining:
            self._refuse(request, DRAINING)
        else:
            self._dispatch(request)

    def _checked(self, message: RawRequestMessage, content: StreamReader) -> Request | None:
        """Make a request of a head; refuse one with a flaw."""
        flaw = find_flaw(message, self.server.limits)
        if flaw is None:
            try:
                request = Request(message, content, self)
            except ValueError:  # a target that only looks like a URL
                flaw = MALFORMED_REQUEST
        if flaw is not None:
            self._refuse_unread(flaw, message.method, content)
            return None
        if content is EMPTY_PAYLOAD:
            self._former = request
        return request

    def _dispatch(self, request: Request) -> None:
        """Call the application, in a context of the request's own."""
        context = copy_context()
        try:
            outcome = context.run(self.server.handler, request)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the caller gets an answer
            self._fail(request, problem)
            return
        if isinstance(outcome, Reply):
            self._write(request, outcome)
            return
        self._task = self._loop.create_task(outcome, context=context)
        self.server.add_task(self._task)
        self._task.add_done_callback(partial(self._on_done, request))

    def _on_done(self, request: Request, task: asyncio.Task[Reply | Written]) -> None:
        """Answer what a task has returned or raised."""
        self.server.remove_task(task)
        self._task = None
        if task.cancelled():
            self.abort()
            return
        problem = task.exception()
        if self.transport is None:
            return
        if problem is not None:
            self._fail(request, problem)
        elif isinstance(outcome := task.result(), Written):
            self._after_answer(request, keeps=outcome.keeps)
        else:
            self._write(request, outcome)
        if self._queue.waiting or self._buffer_paused:
            self._start_waiting()

    # --- answers -----------------------------------------------------------------------------

    def _write(self, request: Request, answer: Reply) -> None:
        """
        Write an answer.

        An answer given before the whole request has arrived is the connection's last.
        What still arrives is discarded, never read as a request.
        """
        message = request.message
        ends = answer.closes or message.should_close or self.server.draining
        keeps = not ends and request.is_complete
        if not answer.trace_id:
            answer.trace_id = self.server.refusals.find_trace_id(request.headers)
        how = reply_format(message.version, keeps=keeps, bodiless=request.method == hdrs.METH_HEAD)
        try:
            written = to_bytes(answer, how)
        except UnwritableReply as problem:
            self._fail(request, problem)
            return
        if self.transport is not None:
            self.transport.write(written)
        self._after_answer(request, keeps=keeps)

    def _after_answer(self, request: Request, *, keeps: bool) -> None:
        """Wait for the next request, or end the connection."""
        if not keeps:
            self._finish(more_may_come=self._queue.closed or not request.is_complete)
        elif not self._queue.has_partial:
            self._timer.set_in(self.server.limits.keepalive_s)

    def _refuse_unread(self, error: ErrorCode, method: str, content: StreamReader) -> None:
        """Refuse a malformed request; an answer to HEAD has no body even then."""
        self._queue.close(MalformedBody())
        message = UNREAD._replace(method=method)
        self._refuse(Request(message, content, self), error)

    def _refuse(self, request: Request, error: ErrorCode) -> str:
        """Answer instead of the application; return the trace id."""
        refusals = self.server.refusals
        answer = refusals.answer(error, refusals.find_trace_id(request.headers))
        self._write(request, answer)
        return answer.trace_id

    def _fail(self, request: Request, problem: BaseException) -> None:
        """Answer for an application that failed; nothing of the request is echoed or logged."""
        error = find_code(problem, HTTPStatus.INTERNAL_SERVER_ERROR)
        trace_id = self._refuse(request, error)
        if error is INTERNAL:
            _log.error("%s, trace id %s", describe(problem), trace_id)

    def _finish(self, *, more_may_come: bool) -> None:
        """
        Close. If the caller may still be sending, close our half and read on for a moment.

        Closing with unread bytes would reset the connection, and the caller might
        lose the answer.
        """
        self._queue.waiting.clear()
        self._queue.close(MalformedBody())
        if self.transport is None or self.transport.is_closing() or not more_may_come:
            self.close()
            return
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._is_lingering = True
        self._timer.set_in(self.server.limits.linger_s)
        self._resume_transport_reading()
