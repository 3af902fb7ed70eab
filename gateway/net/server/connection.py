"""
One caller's connection: what is read, until when, in whose turn, and an orderly end.

A request whose answer needs no waiting is answered while its bytes are being
read: no task, no timer, one write. Any other has a task of its own, and what
comes behind it waits for its turn.

Inner parts of aiohttp 3.14 that this package leans on, each checked by a test so that
a release without one fails loudly:

- ``BaseProtocol``: ``_buffer_paused``, ``_loop``, ``_parser``, ``_paused``,
  ``_reading_paused``, ``_pause_reading_for_buffer``, ``_resume_reading_for_buffer``,
  ``_resume_transport_reading``;
- the parser: ``feed_data``, ``message_consumed``, ``set_upgraded``, its
  ``max_msg_queue_size``, ``RawRequestMessage._replace``, the words of ``TOO_MANY_HEADERS``;
- ``streams.EMPTY_PAYLOAD``, ``tcp_helpers.tcp_keepalive``, ``web_protocol.RequestPayloadError``;
- what ``web_handler`` names, for handlers of aiohttp's own kind.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import copy_context
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from aiohttp import hdrs
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from aiohttp.tcp_helpers import tcp_keepalive
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import DRAINING, INTERNAL, MALFORMED_REQUEST
from gateway.net.server.body import MalformedBody, RequestTimeout
from gateway.net.server.client_address import plain
from gateway.net.server.deadline import Deadline
from gateway.net.server.faults import describe
from gateway.net.server.framing import find_flaw
from gateway.net.server.refusals import find_code
from gateway.net.server.reply import Reply, UnwritableReply, Written, manner, to_bytes
from gateway.net.server.request import Request
from gateway.net.server.request_queue import Inbox, make_parser

if TYPE_CHECKING:
    from gateway.net.server.http_server import WireServer

_log: Final = logging.getLogger("gateway.net.server")
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_NOBODY: Final = RawRequestMessage(
    method="UNKNOWN",
    path="/",
    version=HttpVersion11,
    headers=CIMultiDictProxy(CIMultiDict[str]()),
    raw_headers=(),
    should_close=True,
    compression=None,
    upgrade=False,
    chunked=False,
    url=URL("/"),
)
"""Stands for a request that is refused unread: what is not kept cannot be echoed."""


class Connection(BaseProtocol):
    """
    The protocol of one accepted socket.

    Attributes:
        address: Of who it is open for: the peer's, or the one that a proxy of ours
            announced; empty where the system does not tell.
        server: The listener's, with its limits.
    """

    __slots__ = (
        "_deadline",
        "_inbox",
        "_is_admitted",
        "_is_fresh",
        "_is_lingering",
        "_stalled",
        "_task",
        "address",
        "server",
    )

    def __init__(self, server: WireServer, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for ``connection_made``."""
        super().__init__(loop)
        self._parser = parser = make_parser(self, loop, server.limits)
        self.server = server
        self._inbox = Inbox(parser)
        self._deadline = Deadline(loop, self._end_late)
        self._task: asyncio.Task[Reply | Written] | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._is_admitted = False
        # No request has come yet: the first has until a time after the beginning.
        self._is_fresh = True
        self._is_lingering = False
        self.address = ""

    # --- the socket --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, or hang up at once where there is no room."""
        peer = transport.get_extra_info("peername")
        self.address = plain(str(peer[0])) if peer else ""
        if not self.server.admit(self):
            cast("asyncio.Transport", transport).abort()
            return
        self._is_admitted = True
        super().connection_made(transport)
        tcp_keepalive(cast("asyncio.Transport", transport))
        self._deadline.set(self.server.limits.header_deadline_s)

    def connection_lost(self, exc: BaseException | None) -> None:
        """End, and leave room for another; a request being worked on is worked on."""
        self._deadline.stop()
        self._forget_stall()
        self._inbox.waiting.clear()
        self._inbox.close(ConnectionResetError("the caller hung up"))
        self._inbox.let_go()
        self._parser = None
        if self._is_admitted:
            self._is_admitted = False
            self.server.release(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and answer what can be answered."""
        inbox = self._inbox
        if inbox.deaf:
            return
        was_begun = inbox.begun
        has_more = inbox.feed(data)
        if has_more:
            self._is_fresh = False
            self._deadline.clear()
        if inbox.begun and (has_more or not was_begun) and not self._is_fresh:
            self._deadline.set(self.server.limits.header_deadline_s)
        if inbox.is_full and not self._buffer_paused:
            self._pause_reading_for_buffer()
        if has_more:
            self._go_on()

    def pause_writing(self) -> None:
        """Hang up on a caller that takes nothing for too long; closing would wait for it."""
        super().pause_writing()
        if self.transport is not None:
            self._stalled = self._loop.call_later(
                self.server.limits.answer_deadline_s, self.transport.abort
            )

    def resume_writing(self) -> None:
        """Go on: the caller takes its answer."""
        super().resume_writing()
        self._forget_stall()
        self._go_on()

    def invite(self) -> None:
        """Tell the caller to send the body it holds back; not the answer yet."""
        if self.transport is not None:
            self.transport.write(_CONTINUE)

    def hang_up(self) -> None:
        """End without a word; what was answered is still delivered."""
        self._inbox.waiting.clear()
        self._inbox.close(MalformedBody())
        self._deadline.clear()
        if self.transport is not None:
            self.transport.close()

    def cut_off(self) -> None:
        """End at once, whatever is on its way."""
        if self.transport is not None:
            self.transport.abort()

    def _forget_stall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _end_late(self) -> None:
        """Refuse half a request; hang up on none at all."""
        if self._is_lingering:
            self.hang_up()
        elif self._buffer_paused or self._reading_paused:
            # It is us who do not read; the caller is not late.
            self._deadline.set(self.server.limits.header_deadline_s)
        elif self._inbox.begun:
            self._inbox.refuse(RequestTimeout())
            self._go_on()
        else:
            self.hang_up()

    # --- turns -------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Begin what waits, in order, until there is something to wait for."""
        inbox = self._inbox
        while inbox.waiting and self._task is None and not self._paused:
            self._begin(*inbox.take())
        if self._buffer_paused and inbox.has_room:
            # Other callers have their turn before this one is read on.
            self._loop.call_soon(self._refill)

    def _refill(self) -> None:
        """Read on where reading stopped for want of room."""
        if self._inbox.deaf:
            return
        self._inbox.feed(b"")
        if not self._inbox.is_full:
            self._resume_reading_for_buffer()
        self._go_on()

    def _begin(self, message: RawRequestMessage | Exception, content: StreamReader) -> None:
        """Have a request answered, or refuse it for the application."""
        if isinstance(message, Exception):
            self._refuse_unread(find_code(message, HTTPStatus.BAD_REQUEST), "", content)
            return
        flaw = find_flaw(message, self.server.limits)
        if flaw is not None:
            self._refuse_unread(flaw, message.method, content)
            return
        try:
            request = Request(message, content, self)
        except ValueError:  # a target that only looks like a URL
            self._refuse_unread(MALFORMED_REQUEST, message.method, content)
            return
        if self.server.draining:
            self._refuse(request, DRAINING)
        else:
            self._ask(request)

    def _ask(self, request: Request) -> None:
        """Ask the application, in a context of the request's own."""
        context = copy_context()
        try:
            outcome = context.run(self.server.handler, request)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the caller gets an answer
            self._apologise(request, problem)
            return
        if isinstance(outcome, Reply):
            self._answer(request, outcome)
            return
        self._task = self._loop.create_task(outcome, context=context)
        self.server.enter(self._task)
        self._task.add_done_callback(partial(self._end_turn, request))

    def _end_turn(self, request: Request, task: asyncio.Task[Reply | Written]) -> None:
        """Take over from a task that has ended."""
        self.server.leave(task)
        self._task = None
        if task.cancelled():
            self.cut_off()
            return
        problem = task.exception()
        if self.transport is None:
            return
        if problem is not None:
            self._apologise(request, problem)
        elif isinstance(outcome := task.result(), Written):
            self._end_answer(request, keeps=outcome.keeps)
        else:
            self._answer(request, outcome)
        self._go_on()

    # --- answers -----------------------------------------------------------------------------

    def _answer(self, request: Request, answer: Reply) -> None:
        """
        Write an answer.

        One given before the whole request has arrived is the connection's last:
        what still comes is thrown away, never read as a request.
        """
        message = request.message
        ends = answer.closes or message.should_close or self.server.draining
        keeps = not ends and request.is_complete
        if not answer.trace_id:
            answer.trace_id = self.server.refusals.find_trace_id(request.headers)
        how = manner(message.version, keeps=keeps, bodiless=request.method == hdrs.METH_HEAD)
        try:
            written = to_bytes(answer, how)
        except UnwritableReply as problem:
            self._apologise(request, problem)
            return
        if self.transport is not None:
            self.transport.write(written)
        self._end_answer(request, keeps=keeps)

    def _end_answer(self, request: Request, *, keeps: bool) -> None:
        """Wait for a next request, or end the connection."""
        if not keeps:
            self._end(more_may_come=self._inbox.deaf or not request.is_complete)
        elif not self._inbox.begun:
            self._deadline.set(self.server.limits.keepalive_s)

    def _refuse_unread(self, error: ErrorCode, method: str, content: StreamReader) -> None:
        """Refuse what is no sound request; an answer to HEAD stays without a body."""
        self._inbox.close(MalformedBody())
        message = _NOBODY._replace(method=method)
        self._refuse(Request(message, content, self), error)

    def _refuse(self, request: Request, error: ErrorCode) -> str:
        """Answer in the application's place; return the trace id."""
        refusals = self.server.refusals
        answer = refusals.answer(error, refusals.find_trace_id(request.headers))
        self._answer(request, answer)
        return answer.trace_id

    def _apologise(self, request: Request, problem: BaseException) -> None:
        """Answer what the application did not; nothing of the request is answered or logged."""
        error = find_code(problem, HTTPStatus.INTERNAL_SERVER_ERROR)
        trace_id = self._refuse(request, error)
        if error is INTERNAL:
            _log.error("%s, trace id %s", describe(problem), trace_id)

    def _end(self, *, more_may_come: bool) -> None:
        """
        Close; where the caller may still be sending, say so and wait a moment for its end.

        Closing over unread bytes would reset the connection, and the caller might
        lose the answer.
        """
        self._inbox.waiting.clear()
        self._inbox.close(MalformedBody())
        if self.transport is None or not more_may_come:
            self.hang_up()
            return
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._is_lingering = True
        self._deadline.set(self.server.limits.linger_s)
        self._resume_transport_reading()

    # --- what aiohttp's requests ask of a connection -----------------------------------------

    @property
    def peername(self) -> object:
        """The other end."""
        return self.transport and self.transport.get_extra_info("peername")

    @property
    def sockname(self) -> object:
        """Our end."""
        return self.transport and self.transport.get_extra_info("sockname")

    @property
    def ssl_context(self) -> object:
        """None: TLS ends before us."""
        return self.transport and self.transport.get_extra_info("sslcontext")
