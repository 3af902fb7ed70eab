"""Passes bytes on between a caller and a bank, and cuts the caller's connection on command."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from tests.servers.streams import Streams
from tests.world.waiting import settle


class Cutting:
    """
    Stands in front of a bank's port.

    Ends the caller's connection without a word of TLS, once the bank has said all that it says.
    """

    def __init__(self, bank: int, said: asyncio.Event) -> None:
        self._bank = bank
        self._said = said
        self.port = 0

    async def __aenter__(self) -> Self:
        self._streams = Streams(self._pass_on)
        self.port = await self._streams.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        await self._streams.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_bank, to_bank = await asyncio.open_connection("127.0.0.1", self._bank)
        copying = [
            asyncio.create_task(_copy(reader, to_bank)),
            asyncio.create_task(_copy(from_bank, writer)),
        ]
        await self._said.wait()
        await settle(100)  # what the bank has written is passed on: all of it is on this loop
        for task in copying:
            task.cancel()
        for each in (writer, to_bank):
            each.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
