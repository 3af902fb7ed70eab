"""One connection to a bank: one request at a time, each sent by one write and never repeated."""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Callable
from math import inf
from typing import cast

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.client.responses import ResponseReader
from gateway.banks.client.tls import ResumingContext, VerifiedSSLObject
from gateway.banks.port.providers import ProviderError, Reason, Unavailable
from gateway.net.common.certificates import refuses_ours
from gateway.net.common.descriptors import descriptor_of
from gateway.net.common.runtime import Failpoint, LazyTimer


class Connection(asyncio.Protocol):
    """
    The protocol of one connection.

    Only one complete answer to one request keeps it open. Unexpected bytes, an error or a cancelled
    call close it.

    Args:
        largest: Bytes of an answer's body that are read.
        on_closed: Called once, when the connection is closed for good.
        single: It carries one call and is then closed.

    Attributes:
        usable: Whether it is open, as far as the loop has noticed.
        reader: Parses its answers.
        descriptor: The number of its file descriptor; -1 where it has none.
        idle_until: Closing time if no call begins before; the loop's clock, in seconds.
        usable_until: End of its use for new calls; the loop's clock, in seconds.
        epoch: Number of the pool's credentials with which it was opened.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        largest: int,
        on_closed: Callable[[Connection], None],
        *,
        single: bool = False,
    ) -> None:
        self._loop = loop
        self.reader = ResponseReader(largest, single=single)
        self._on_closed = on_closed
        self._tls: VerifiedSSLObject | None = None  # while its session has not been kept
        self._transport: asyncio.Transport | None = None
        self.usable = False
        self.descriptor = -1
        self._waiter: asyncio.Future[ProviderAnswer] | None = None
        self._timer = LazyTimer(loop, self._on_late)
        self._whole_at = inf
        self._poll: Callable[[int], list[tuple[int, int]]] | None = None
        self.idle_until = 0.0
        self.usable_until = inf
        self.epoch = 0

    def send(
        self,
        data: bytes,
        progress: SendProgress,
        on_status: Callable[[int], None],
        first_byte_at: float,
        whole_at: float,
    ) -> asyncio.Future[ProviderAnswer]:
        """
        Write a request, or its first part, and return a future of its answer.

        The deadlines for the answer's begin and end are times of the loop's clock, in seconds.

        ``progress`` decides in the step that writes: nothing runs between its decision and the
        write. A late answer fails with ``Unavailable``.

        Raises:
            SendRefused: nothing was written; the connection is as it was.
        """
        waiter = self._loop.create_future()
        # Nothing may be awaited between this line and the write.
        progress.sending()
        self.reader.begin(on_status)
        self._waiter = waiter
        self._whole_at = whole_at
        self.write(data)
        self._timer.set_at(min(first_byte_at, whole_at))
        return waiter

    def write(self, data: bytes) -> None:
        """Write more of the request; a closed connection discards it."""
        if self._transport is not None:
            self._transport.write(data)

    def end_call(self) -> bool:
        """End the call, however it went; True if another may follow, else the connection closes."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and waiter.done() and not waiter.cancelled():
            waiter.exception()  # retrieved: the call may have been cancelled in the same turn
        transport = self._transport
        # An answer that came before the whole request was sent ends the connection.
        sound = self.usable and self.reader.reusable and transport is not None
        if sound and transport is not None and not transport.get_write_buffer_size():
            return True
        self.abort()
        return False

    def rest(self, until: float) -> None:
        """Wait for a call until a time of the loop's clock, in seconds; then close."""
        self.idle_until = until
        self._timer.set_at(until)

    def is_quiet(self) -> bool:
        """
        Return whether the kernel reports an idle connection as open and without unread bytes.

        The bank may have closed it, and the loop may not have noticed yet.
        """
        if not self.usable or self._transport is None or self._transport.is_closing():
            return False
        return self._poll is None or not self._poll(0)

    def abort(self) -> None:
        """Close at once; ``on_closed`` is called in a later turn of the loop."""
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the socket."""
        self._transport = cast("asyncio.Transport", transport)
        self.usable = True
        self._tls = transport.get_extra_info("ssl_object")
        self.descriptor = descriptor_of(transport)
        if hasattr(select, "poll") and self.descriptor >= 0:  # Windows has none
            poll = select.poll()
            poll.register(self.descriptor, select.POLLIN)
            self._poll = poll.poll

    def data_received(self, data: bytes) -> None:
        """Read on; unexpected bytes close the connection."""
        waiter = self._waiter
        if waiter is None or waiter.done():
            self.abort()
            return
        try:
            answer = self.reader.feed(data)
        except ProviderError as problem:
            self._fail(problem)
            return
        if answer is not None:
            waiter.set_result(answer)
            if self._tls is not None:
                self._keep_session()
            return
        self._timer.set_at(self._whole_at)
        if self.reader.discarding and self._transport is not None:
            self._transport.pause_reading()  # the call's deadline ends it

    def eof_received(self) -> None:
        """Note that the bank has closed its side, which ends some answers. We close too."""
        self.usable = False
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        try:
            if not self._is_closed_properly():
                raise self.reader.cut()
            waiter.set_result(self.reader.end())
        except ProviderError as problem:
            self._fail(problem)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Record the end; a waiting call has failed."""
        self._transport = self._poll = None
        self.descriptor = -1
        self._timer.cancel()
        if self._waiter is not None:
            # In TLS 1.3 the bank looks at our certificate after the request was written.
            refused = exc is not None and refuses_ours(exc)
            self._fail(Unavailable(Reason.CERTIFICATE_REFUSED) if refused else self.reader.cut())
        self.usable = False
        self._on_closed(self)

    def _is_closed_properly(self) -> bool:
        """
        Return whether the bank ended the connection itself.

        Under TLS anybody on the path can cut a connection. Only ``close_notify``, which is
        encrypted, proves that the bank did.
        """
        if self._transport is None:
            return False
        tls: ssl.SSLObject | None = self._transport.get_extra_info("ssl_object")
        if tls is None:
            return True
        try:
            return not tls.read(1)
        except ssl.SSLZeroReturnError:
            return True
        except ssl.SSLError:
            return False

    def _keep_session(self) -> None:
        """Keep the TLS session for the next connection; TLS 1.3 sends it after the handshake."""
        tls, self._tls = self._tls, None
        if tls is not None and isinstance(tls.context, ResumingContext):
            tls.context.keep(tls)

    def _on_late(self) -> None:
        """Fail the call, whose answer has not begun or is incomplete; close an idle connection."""
        if self._waiter is None or not self._waiter.done():
            self._fail(Unavailable(Reason.TIMEOUT))

    def _fail(self, problem: ProviderError) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_exception(problem)
        self.abort()


async def send_split(
    connection: Connection,
    data: bytes,
    progress: SendProgress,
    deadlines: tuple[float, float],
    failpoint: Failpoint,
) -> ProviderAnswer:
    """
    Send a request in two halves, with fail points before and after each; only for tests.

    The first half alone is no request: it ends in the body, or in the head where there is none.
    """

    def on_status(status: int) -> None:
        failpoint("before_answer")
        progress.answered(status)
        failpoint("mid_answer")

    failpoint("after_connect")
    body_at = data.index(b"\r\n\r\n") + 4
    half = (body_at + len(data)) // 2 if body_at < len(data) else body_at // 2
    waiter = connection.send(data[:half], progress, on_status, *deadlines)
    await _flush()
    failpoint("mid_body")
    connection.write(data[half:])
    await _flush()
    failpoint("after_body")
    return await waiter


async def _flush() -> None:
    """Let uvloop write, which happens at the end of a turn of the loop."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
