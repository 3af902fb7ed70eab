"""What several tests of rules share."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    """Let others run until something holds."""
    async with asyncio.timeout(60):
        while True:
            done = holds()
            if done if isinstance(done, bool) else await done:
                return
            await asyncio.sleep(0.001)
