"""
One caller's connection: what is read, until when, and an orderly end.

Inner parts of aiohttp 3.14 that this package leans on, each checked by a test so that
a release without one fails loudly:

- ``web_protocol``: ``ERROR``, ``_ErrInfo``, ``RequestPayloadError``;
- ``RequestHandler``: ``_buffer_paused``, ``_force_close``, ``_handle_request``,
  ``_keepalive_handle``, ``_loop``, ``_messages``, ``_reading_paused``,
  ``_request_count``, ``_waiter``, ``finish_response``, ``handle_error``,
  ``log_exception``;
- ``Request``: ``ATTRS``, ``_payload``, ``_prepare_hook``, ``_protocol``, ``_read_bytes``;
- ``Server``: ``_loop``, ``request_factory``, ``request_handler``;
- ``AppRunner._make_server``, ``Application._make_request(_cls=…)``;
- the parser: ``RawRequestMessage._replace``, the words of ``TOO_MANY_HEADERS``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from aiohttp import web
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import _ErrInfo

from gateway.domain.errors import DRAINING
from gateway.http.wire.answering import Answering
from gateway.http.wire.body import MalformedBody, RequestTimeout
from gateway.http.wire.clock import HeaderClock
from gateway.http.wire.request import WireRequest

if TYPE_CHECKING:
    from gateway.http.wire.server import WireServer

_END_OF_HEADERS: Final = b"\r\n\r\n"

_Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Connection(Answering):
    """The protocol of one accepted socket."""

    __slots__ = ("_address", "_deaf", "_gone", "_headers", "_last_payload", "_stalled")

    def __init__(self, server: WireServer, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(server, loop)
        self._headers = HeaderClock(loop, self.limits.header_deadline_s, self._end_late_headers)
        self._last_payload: StreamReader = EMPTY_PAYLOAD
        # None until admitted, so that only admitted ones are counted out.
        self._address: str | None = None
        # Nothing more is read: the framing is lost, or the request is refused.
        self._deaf = False
        self._gone: asyncio.Future[None] | None = None
        self._stalled: asyncio.TimerHandle | None = None

    # --- the socket --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, or hang up at once where there is no room."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if not self._server.admit(address):
            self._force_close = True
            cast("asyncio.Transport", transport).abort()
            return
        self._address = address
        super().connection_made(transport)
        self._headers.start()

    def connection_lost(self, exc: BaseException | None) -> None:
        """End, and leave room for another."""
        self._headers.stop()
        self._forget_stall()
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
        if self._address is not None:
            self._server.release(self._address)
            self._address = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; what cannot be read is refused in its turn, and nothing behind it is read."""
        if self._deaf:
            return
        known, in_body = self._request_count, not self._last_payload.is_eof()
        try:
            super().data_received(data)
        except Exception as problem:  # noqa: BLE001 - a fault of the parser must end in an answer
            self._refuse_in_turn(problem)
            return
        if self._request_count == known or not self._messages:
            # Blank lines before a request are allowed, and no request yet.
            begins = not in_body and bool(data.strip(b"\r\n"))
        elif isinstance(self._messages[-1][0], RawRequestMessage):
            begins = self._note_request(data)
        else:
            self._stop_hearing()
            return
        if begins and not self._headers.begun:
            self._begin_request()

    # --- deadlines ---------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """Hang up on a caller that takes nothing for too long; closing would wait for it."""
        super().pause_writing()
        if self.transport is not None:
            self._stalled = self._loop.call_later(
                self.limits.answer_deadline_s, self.transport.abort
            )

    def resume_writing(self) -> None:
        """Go on: the caller takes its answer."""
        super().resume_writing()
        self._forget_stall()

    def _forget_stall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _note_request(self, data: bytes) -> bool:
        """
        Stop the clock: headers are complete. Does a next request begin behind them?

        Bytes of a next request in the same segment as the end of a body cannot be
        told from that body; they count as idle until more come.
        """
        self._headers.stop()
        self._last_payload = self._messages[-1][1]
        return self._last_payload is EMPTY_PAYLOAD and not data.endswith(_END_OF_HEADERS)

    def _begin_request(self) -> None:
        """Start the clock; the connection is idle no more."""
        self._headers.begin()
        if self._keepalive_handle is not None:
            self._keepalive_handle.cancel()
            self._keepalive_handle = None

    def _end_late_headers(self) -> None:
        """Refuse half a request; hang up on none at all."""
        if self._buffer_paused or self._reading_paused:
            # It is us who do not read; the caller is not late.
            self._headers.start()
        elif self._headers.begun:
            self._refuse_in_turn(RequestTimeout())
        else:
            self.force_close()

    # --- refusals ----------------------------------------------------------------------------

    def _refuse_in_turn(self, problem: Exception) -> None:
        """Queue a refusal behind what is still to be answered, as aiohttp queues its own."""
        self._request_count += 1
        self._messages.append((_ErrInfo(400, problem, ""), EMPTY_PAYLOAD))
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        self._stop_hearing()

    def _stop_hearing(self) -> None:
        """Read nothing more; a body that is still being waited for will not come."""
        self._deaf = True
        self._headers.stop()
        if not self._last_payload.is_eof():
            self._last_payload.set_exception(MalformedBody())

    # --- turns -------------------------------------------------------------------------------

    async def _handle_request(
        self, request: web.BaseRequest, start_time: float | None, request_handler: _Answer
    ) -> tuple[web.StreamResponse, bool]:
        wired = cast("WireRequest", request)
        handler = self._gate(wired, request_handler)
        self._server.enter()
        try:
            response, lost = await super()._handle_request(request, start_time, handler)
        finally:
            self._server.leave()
        more_may_come = self._deaf or not wired.is_complete
        if more_may_come and not lost and not response.keep_alive:
            await self._linger()
        return response, lost

    def _gate(self, request: WireRequest, handler: _Answer) -> _Answer:
        """Choose who answers: the application, or we for it."""
        if request.flaw is not None:
            self._stop_hearing()
        drained = DRAINING if self._server.draining and request.parsed else None
        error = request.flaw or drained
        if error is None:
            return handler

        async def refuse(request: web.BaseRequest) -> web.StreamResponse:
            return self._refuse(request, error)

        return refuse

    async def _linger(self) -> None:
        """
        Say that no more will come, then throw away what still does, for a short time.

        Closing over unread bytes would reset the connection, and the caller might
        lose the answer.
        """
        self._stop_hearing()
        if self.transport is not None and not self._force_close:
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self.transport.resume_reading()
            self._gone = self._loop.create_future()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.linger_s):
                    await self._gone
        self.force_close()
