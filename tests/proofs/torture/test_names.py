"""The name server of a campaign: found again as soon as it answers, and silent when it is told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proofs.torture.names import NAME, Names, names_in
from tests.servers import demand, namespaces
from tests.world.extent import WHOLE

_LOOK_UP = f"import socket; print(socket.getaddrinfo('{NAME}', None)[0][4][0])"


@pytest.fixture
def names(tmp_path: Path) -> Iterator[Names]:
    with names_in(tmp_path / "names") as found:
        if not found.can_hang:
            demand.absent(namespaces.NAME, "no mounts of its own, or no name server on port 53")
        yield found


async def looked_up(names: Names) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(*names.command, sys.executable, "-c", _LOOK_UP), stdout=asyncio.subprocess.PIPE
    )


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_a_name_hangs_as_long_as_it_is_told_and_is_found_before_and_after(names: Names):
    before, _ = await (await looked_up(names)).communicate()
    with names.hanging():
        hanging = await looked_up(names)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(hanging.wait(), 3)
        hanging.kill()
        await hanging.wait()
    after, _ = await (await looked_up(names)).communicate()

    assert before == after == b"127.0.0.1\n"
