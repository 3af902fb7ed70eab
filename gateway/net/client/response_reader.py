"""Bytes of a connection become answers, one at a time; no socket is known here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader

from gateway.domain.bank.providers import BadReply, ProviderError, Unavailable
from gateway.net.client import framing
from gateway.net.client.chunks import Chunks
from gateway.net.client.fast_path import glance
from gateway.net.client.framing import HeadEnd, is_interim, is_without_body
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.parser import make_parser
from gateway.net.client.reasons import Reason

HEAD_BYTES: Final = 64 * 1024
INTERIMS: Final = 32
"""Informational answers before the real one; after more, nothing is read any more."""

# A body in chunks of one byte takes six on the wire.
_LONGEST_CODING: Final = 8

_Message = tuple[RawResponseMessage, StreamReader]


class Reading:
    """
    Reads the answers of one connection.

    ``begin`` before each request, then ``feed`` what comes until there is an
    answer. Where a glance is not enough the parser is given the head alone
    first: so bytes behind an answer never spoil it, however all was cut into
    segments. ``single`` is for a connection that carries one answer and no other.

    Attributes:
        reusable: The answer was read to its end, nothing came behind it, and
            the bank did not say that it closes.
        kept_s: How long the bank says that it keeps an idle connection.
        babbling: Too many informational answers: what is fed is thrown away.
    """

    __slots__ = (
        "_answered", "_begun", "_chunks", "_head_bytes", "_head_end", "_interims", "_largest",
        "_length", "_message", "_parser", "_parts", "_payload", "_raw", "_single", "_size",
        "_surplus", "babbling", "kept_s", "reusable",
    )  # fmt: skip

    def __init__(
        self, loop: asyncio.AbstractEventLoop, largest: int, *, single: bool = False
    ) -> None:
        self._parser = make_parser(loop)
        self._largest = largest
        self._single = single
        self.begin(lambda _: None)
        self.reusable = not single

    def begin(self, answered: Callable[[int], None]) -> None:
        """Expect an answer; ``answered`` hears its status as soon as its head is here."""
        self._answered = answered
        self._message: RawResponseMessage | None = None
        self._begun = self.babbling = self.reusable = False
        self.kept_s: float | None = None

    def feed(self, data: bytes) -> ProviderAnswer | None:
        """
        Read on; return the answer when it is whole.

        Raises:
            BadReply: nothing of this connection can be read any more.
        """
        if self._begun:
            return self._parse(data)
        usual = glance(data, self._largest, last=self._single)
        if usual is None:
            self._begin_parsing()
            return self._parse(data)
        self._answered(usual.status)
        self.reusable = not self._single
        return usual

    def end(self) -> ProviderAnswer:
        """
        Hear that the bank has closed in an orderly way; that ends some answers.

        Raises:
            ProviderError: what came is not a whole answer; see ``cut``.
        """
        message = self._message
        if message is None or self._length is not None or message.chunked:
            raise self.cut()
        return self._whole(b"".join(self._parts), clean=False)

    def cut(self) -> ProviderError:
        """Name the failure when nothing more comes: was there an answer's head?"""
        if self._message is None:
            return Unavailable(Reason.CONNECTION_LOST)
        return BadReply(Reason.ANSWER_CUT_SHORT, http_status=self._message.code)

    def _begin_parsing(self) -> None:
        """Let the parser read this answer."""
        self._begun = True
        self._payload: StreamReader = EMPTY_PAYLOAD
        self._parts: list[bytes] = []
        self._length: int | None = None
        self._head_end = HeadEnd()
        self._chunks: Chunks | None = None
        self._head_bytes = self._interims = self._size = self._raw = 0
        self._surplus = False

    def _parse(self, data: bytes) -> ProviderAnswer | None:
        """Read on with the parser."""
        if self._message is None:
            data = self._read_head(data)
        message = self._message
        if message is None:
            return None
        if is_without_body(message.code):
            clean = not data and self._payload.is_eof() and not message.upgrade
            return self._whole(b"", clean=clean)
        return self._read_body(data)

    def _read_head(self, data: bytes) -> bytes:
        """Read up to the end of the answer's head; return what follows it."""
        while data and not self.babbling:
            cut = self._head_end.find(data)
            self._head_bytes += cut
            if self._head_bytes > HEAD_BYTES:
                raise BadReply(Reason.NOT_HTTP)
            messages = self._parsed(data[:cut])
            data = data[cut:]
            if messages and self._take(messages):
                return data
        return b""

    def _parsed(self, data: bytes) -> Sequence[_Message]:
        """Let the parser read; whatever it trips over is no HTTP to us."""
        try:
            return self._parser.feed_data(data)[0]
        except Exception as problem:
            # The parser has a dozen kinds of its own; none of them may end a task of ours.
            raise BadReply(Reason.NOT_HTTP, http_status=self._status) from problem

    def _take(self, messages: Sequence[_Message]) -> bool:
        """Take the first message that is no informational one; False when there is none."""
        for message, payload in messages:
            if self._message is not None:
                self._surplus = True  # an answer nobody asked for, behind ours
            elif is_interim(message.code):
                self._skip(message, payload)
            else:
                self._start_body(message, payload)
        return self._message is not None

    def _skip(self, message: RawResponseMessage, payload: StreamReader) -> None:
        """Pass over an informational answer; one with a body is a trick."""
        if payload is not EMPTY_PAYLOAD:
            raise BadReply(Reason.NOT_HTTP, http_status=message.code)
        self._head_bytes = 0
        self._interims += 1
        self.babbling = self._interims > INTERIMS

    def _start_body(self, message: RawResponseMessage, payload: StreamReader) -> None:
        """Tell the status, and refuse what would not be read anyway."""
        status = message.code
        self._message, self._payload = message, payload
        self._answered(status)
        self._length = framing.body_length(message)
        self._chunks = Chunks() if message.chunked else None
        if (self._length or 0) > self._largest and not is_without_body(status):
            raise BadReply(Reason.TOO_LARGE, http_status=status)

    def _read_body(self, data: bytes) -> ProviderAnswer | None:
        """Read on in the body; what comes behind it is noticed and left alone."""
        payload = self._payload
        self._raw += len(data)
        if data:
            self._feed_body(data, payload)
        whole = payload.is_eof()
        part = payload.read_nowait()
        self._size += len(part)
        if self._size > self._largest or self._raw > self._largest * _LONGEST_CODING:
            raise BadReply(Reason.TOO_LARGE, http_status=self._status)
        if part:
            self._parts.append(part)
        if not whole:
            return None
        exact = self._length is None or self._raw <= self._length
        return self._whole(b"".join(self._parts), clean=exact and not self._surplus)

    def _feed_body(self, data: bytes, payload: StreamReader) -> None:
        """Let the parser read; an error behind the body's end is not this answer's."""
        surplus = payload.is_eof()
        if not surplus:
            try:
                if self._chunks is not None:
                    self._chunks.follow(data)
                surplus = bool(self._parsed(data))
            except BadReply:
                surplus = payload.is_eof()
                if not surplus:
                    raise
        self._surplus = self._surplus or surplus

    @property
    def _status(self) -> int | None:
        return self._message.code if self._message else None

    def _whole(self, body: bytes, *, clean: bool) -> ProviderAnswer:
        """Make the answer; may the connection be used again?"""
        message = self._message
        assert message is not None  # noqa: S101 - for the type; there is no body without a head
        self.reusable = clean and not message.should_close and not self._single
        self.kept_s = framing.kept_for(message)
        return ProviderAnswer(status=message.code, headers=message.headers, body=body)
