"""One connection to a bank: one request at a time, written once, in one piece, answered in time."""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Callable
from typing import Final, cast

import msgspec

from gateway.domain.bank.providers import ProviderError, Unavailable
from gateway.net.client.alarm import Alarm
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.reasons import Reason
from gateway.net.client.response_reader import Reading
from gateway.net.client.resumption import ResumingContext, SecuredObject
from gateway.net.client.send_progress import Passage

_HAS_POLL: Final = hasattr(select, "poll")


class Until(msgspec.Struct, frozen=True):
    """By when an answer must have begun, and by when it must be whole: the loop's seconds."""

    first_byte: float
    whole: float


class Line(asyncio.Protocol):
    """
    The protocol of one connection.

    Whatever happens that is not one whole answer to one request closes it: a
    byte nobody asked for, an error, a call that is given up.

    Args:
        largest: Bytes of an answer's body that are read.
        gone: Told once the connection is closed for good.
        single: It carries one call and is closed.

    Attributes:
        idle_until: Seconds of the loop's clock, kept by the pool.
        epoch: Which credentials it was opened with, kept by the pool.
    """

    __slots__ = (
        "_alarm",
        "_gone",
        "_loop",
        "_poll",
        "_reading",
        "_secured",
        "_transport",
        "_until",
        "_usable",
        "_waiter",
        "epoch",
        "idle_until",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        largest: int,
        gone: Callable[[Line], None],
        *,
        single: bool = False,
    ) -> None:
        self._loop = loop
        self._reading = Reading(loop, largest, single=single)
        self._gone = gone
        self._secured: SecuredObject | None = None  # while its session has not been kept
        self._transport: asyncio.Transport | None = None
        self._usable = False
        self._waiter: asyncio.Future[ProviderAnswer] | None = None
        self._alarm = Alarm(loop, self._be_late)
        self._until = Until(0.0, 0.0)
        self._poll: Callable[[int], list[tuple[int, int]]] | None = None
        self.idle_until = 0.0
        self.epoch = 0

    # --- the call ----------------------------------------------------------------------------

    def send(
        self, data: bytes, passage: Passage, answered: Callable[[int], None], until: Until
    ) -> asyncio.Future[ProviderAnswer]:
        """
        Write a request, or its first part, and return what will be its answer.

        The passage is asked in the step that writes: between its word and the
        write nothing else runs. An answer that is late is ``Unavailable``.

        Raises:
            SendRefused: nothing was written; the connection is as it was.
        """
        waiter = self._loop.create_future()
        passage.leaving()
        self._reading.begin(answered)
        self._waiter = waiter
        self._until = until
        self.write(data)
        self._alarm.set(min(until.first_byte, until.whole))
        return waiter

    def write(self, data: bytes) -> None:
        """Write more of the request; a closed connection swallows it."""
        if self._transport is not None:
            self._transport.write(data)

    def end_call(self) -> bool:
        """Forget the call, however it ended; True when another may follow, else it is closed."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and waiter.done() and not waiter.cancelled():
            waiter.exception()  # seen: the call may have been given up in the same turn
        transport = self._transport
        # An answer that came before all of the request had left ends the connection.
        sound = self._usable and self._reading.reusable and transport is not None
        if sound and transport is not None and not transport.get_write_buffer_size():
            return True
        self.abort()
        return False

    @property
    def kept_s(self) -> float | None:
        """How long the bank has said that it keeps an idle connection, in seconds."""
        return self._reading.kept_s

    @property
    def usable(self) -> bool:
        """Is it open, as far as the loop has heard?"""
        return self._usable

    def is_quiet(self) -> bool:
        """
        Ask the kernel whether an idle connection is still open and has nothing to say.

        The loop may not have read the bank's good-bye yet.
        """
        if not self._usable or self._transport is None or self._transport.is_closing():
            return False
        return self._poll is None or not self._poll(0)

    def abort(self) -> None:
        """Close at once; ``gone`` is told in a later turn of the loop."""
        self._usable = False
        if self._transport is not None:
            self._transport.abort()

    # --- the socket --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._usable = True
        self._secured = transport.get_extra_info("ssl_object")
        bare = transport.get_extra_info("socket")
        if _HAS_POLL and bare is not None:
            poll = select.poll()
            poll.register(bare.fileno(), select.POLLIN)
            self._poll = poll.poll

    def data_received(self, data: bytes) -> None:
        """Read on in the answer; what nobody waits for closes the connection."""
        waiter = self._waiter
        if waiter is None or waiter.done():
            self.abort()
            return
        try:
            answer = self._reading.feed(data)
        except ProviderError as problem:
            self._fail(problem)
            return
        if answer is not None:
            waiter.set_result(answer)
            self._keep_session()
            return
        self._alarm.set(self._until.whole)
        if self._reading.babbling and self._transport is not None:
            self._transport.pause_reading()  # the call's own time ends it

    def eof_received(self) -> None:
        """Hear that the bank has closed; that is the end of some answers. We close too."""
        self._usable = False
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        try:
            if not self._is_closed_properly():
                raise self._reading.cut()
            waiter.set_result(self._reading.end())
        except ProviderError as problem:
            self._fail(problem)

    def connection_lost(self, exc: BaseException | None) -> None:
        """End; a call that still waits has failed."""
        self._transport = self._poll = None
        self._alarm.stop()
        self._fail(self._reading.cut())
        self._gone(self)

    def _is_closed_properly(self) -> bool:
        """
        Say whether the bank has ended its side itself; under TLS anybody can cut a connection.

        Only ``close_notify`` makes the TLS say that the end has come.
        """
        if self._transport is None:
            return False
        secured: ssl.SSLObject | None = self._transport.get_extra_info("ssl_object")
        if secured is None:
            return True
        try:
            return not secured.read(1)
        except ssl.SSLZeroReturnError:
            return True
        except ssl.SSLError:
            return False

    def _keep_session(self) -> None:
        """Keep what the next connection may begin with; TLS 1.3 sends it after the handshake."""
        secured, self._secured = self._secured, None
        if secured is not None and isinstance(secured.context, ResumingContext):
            secured.context.keep(secured)

    # --- failing -----------------------------------------------------------------------------

    def _be_late(self) -> None:
        """End the call, if one still waits: its answer has not begun, or is not whole, in time."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            self._fail(Unavailable(Reason.TIMEOUT))

    def _fail(self, problem: ProviderError) -> None:
        """Fail the call, if one waits, and close."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_exception(problem)
        self.abort()
