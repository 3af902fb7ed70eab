"""What a port of streams leaves behind: nothing that complains in another test."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import warnings
from typing import Any

import pytest

from tests.servers.streams import listening

TURNS = [0, 1, 2, 3, 4, 5, 6, 10]
"""Of the loop, between a connection's arrival and the end of the server."""


async def refused(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Fail as a road does whose far end is gone."""
    raise ConnectionRefusedError


async def patient(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


@pytest.mark.parametrize("serve", [refused, patient], ids=["refused", "patient"])
@pytest.mark.parametrize("turns", TURNS)
def test_a_connection_of_any_age_is_closed_with_its_server(serve: Any, turns: int, monkeypatch):
    complaints: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: complaints.append(str(told.exc_value)))

    async def visited() -> None:
        with socket.socket() as visitor:
            visitor.setblocking(False)
            async with listening(serve) as port:
                visitor.connect_ex(("127.0.0.1", port))
                for _ in range(turns):
                    await asyncio.sleep(0)

    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        asyncio.run(visited())
        gc.collect()

    assert complaints == []
