"""A request written in two halves, for a test that ends the process between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from gateway.net.client.connection import Line, Until
from gateway.net.client.send_progress import Passage

if TYPE_CHECKING:
    from gateway.net.client.messages import ProviderAnswer

Passing = Callable[[str], None]
"""Told the name of a point that a call which moves money passes; it may end the process there."""


async def exchanged(
    line: Line, data: bytes, passage: Passage, until: Until, watch: Passing
) -> ProviderAnswer:
    """Send and await the answer, and pass a point whenever a half has reached the kernel."""

    def answered(status: int) -> None:
        watch("before_answer")
        passage.answered(status)
        watch("mid_answer")

    body_at = data.index(b"\r\n\r\n") + 4
    half = body_at + (len(data) - body_at) // 2
    waiter = line.send(data[:half], passage, answered, until)
    await _flushed()
    watch("mid_body")
    line.write(data[half:])
    await _flushed()
    watch("after_body")
    return await waiter


async def _flushed() -> None:
    """Let uvloop write, at the end of a turn of the loop."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
