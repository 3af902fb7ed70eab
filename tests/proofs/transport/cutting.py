"""Somebody on the way who passes bytes on, and cuts the connection when they have stopped."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from tests.servers.streams import Streams

_SILENT_S = 0.3


class Cutting:
    """Stands in front of a port; ends our side without a word of TLS once the bank is silent."""

    def __init__(self, bank: int) -> None:
        self._bank = bank
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
        sending = asyncio.create_task(_copy(reader, to_bank))
        try:
            while data := await asyncio.wait_for(from_bank.read(65536), _SILENT_S):
                writer.write(data)
        except TimeoutError:
            pass
        finally:
            sending.cancel()
            for one in (writer, to_bank):
                one.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what we send."""
    while data := await reader.read(65536):
        writer.write(data)
