"""
The request log's way from server processes to the worker of their host.

Storing a line costs several times what handing it over does, and a batch of them holds requests
up. So a server process writes each line out when it comes, and sends what has gathered through a
socket that keeps messages apart. The supervisor keeps that socket, so what waits there outlives a
worker. Whatever cannot be sent, the server process stores itself.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import Final

import msgspec

from gateway.domain.backoffice.request_log import LoggedRequest
from gateway.runtime.request_log_writer import Add, logged
from gateway.telemetry.records import AccessRecord

_log = logging.getLogger(__name__)

_NAMES: Final = tuple(each.name for each in fields(LoggedRequest) if each.name != "number")
_values: Final = attrgetter(*_NAMES)
_Row = tuple[
    datetime, str, str, str, int, str, str, str, str, str, str, str, str, int
]  # as LoggedRequest declares them
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[_Row]).decode
_ARRAY: Final = b"\xdc"
"""In MessagePack the beginning of an array whose length follows in two bytes."""
_MOST_BYTES: Final = 1 << 20
"""Of a message; a batch of a hundred lines has a tenth of it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The outlet of a server process beside a worker; ``store`` has what the worker cannot take."""

    way: socket.socket
    store: Add

    def taken(self, at: datetime, record: AccessRecord, line: msgspec.Struct) -> bytes:
        """Write it out now: a whole batch would hold other requests up."""
        return _encode(_values(logged(at, record, line)))

    async def add(self, batch: Sequence[bytes]) -> None:
        """Send some; where there is no room, or nobody any more, store them here."""
        message = b"".join((_ARRAY, len(batch).to_bytes(2), *batch))
        try:
            self.way.send(message, socket.MSG_DONTWAIT)
        except OSError:
            await self.store(_restored(message))


@dataclass(frozen=True, slots=True)
class Received:
    """What a worker does with them: store, then take from the socket."""

    way: socket.socket
    store: Add

    async def run_once(self) -> int:
        """
        Store all that waits; return how many lines.

        A message stays in the socket until it is stored. A worker that is killed in between
        loses none; one that is killed just after stores that batch twice.

        Raises:
            StoreUnavailable: what was not stored waits for the next turn.
        """
        stored = 0
        while message := self._waiting():
            stored += await self._stored(message)
            self.way.recv(1, socket.MSG_DONTWAIT)  # the rest of a message goes with its first byte
        return stored

    def _waiting(self) -> bytes:
        """Look at the next message; empty where there is none, or nobody sends any more."""
        try:
            return self.way.recv(_MOST_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError:
            return b""

    async def _stored(self, message: bytes) -> int:
        """Store a message; one that cannot be read must not stop those behind it."""
        try:
            lines = _restored(message)
        except msgspec.MsgspecError:
            _log.exception("request_log_message_unreadable")
            return 0
        await self.store(lines)
        return len(lines)


def _restored(message: bytes) -> list[LoggedRequest]:
    return [
        LoggedRequest(**dict(zip(_NAMES, row, strict=True)))  # type: ignore[arg-type] # see _Row
        for row in _decode(message)
    ]
