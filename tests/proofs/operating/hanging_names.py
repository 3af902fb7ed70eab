"""
Two banks behind names, in a network of its own where no name server ever answers.

Run by ``test_hanging_names.py`` in ``unshare -rmn``, with the seconds of the load and its
connections a second. The name of one bank is in the hosts file, the other is asked of a name server
that never answers. Prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from gateway.banks.client.messages import Kind, ProviderRequest, SendProgress
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import ProviderError
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from provider_adapters.kit.limits import ClientLimits
from tests.world.banks.scripted import ScriptedBank, answer, saying, standing

AT_ONCE = 64
"""What one provider may have in flight, as configured by default."""

_UP, _GET, _SET = 1, 0x8913, 0x8914
_LIMITS = ClientLimits(connect_s=10.0)
_READ = ProviderRequest(operation="x", method="GET", template="/", path="/")
_ORDER = ProviderRequest(
    operation="create_payout", method="POST", template="/", path="/", kind=Kind.PAYOUT
)


@contextlib.contextmanager
def silent_name_server() -> Iterator[None]:
    """Ask a name server that takes every question and answers none, here and nowhere else."""
    with (
        socket.socket() as any_socket,
        socket.socket(type=socket.SOCK_DGRAM) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        mount = shutil.which("mount") or "/usr/bin/mount"
        request = struct.pack("16sh22x", b"lo", _UP)
        fcntl.ioctl(any_socket, _SET, request)
        server.bind(("127.0.0.1", 53))
        files = {
            "resolv.conf": "nameserver 127.0.0.1\n",
            "hosts": "127.0.0.1 good.bank.test\n",
            "nsswitch.conf": "hosts: files dns\n",
        }
        for name, text in files.items():
            file = Path(folder, name)
            file.write_text(text)
            subprocess.run([mount, "--bind", file, f"/etc/{name}"], check=True)
        yield


async def keep_asking(to: HttpTransport, ended: list[str]) -> None:
    """Call a bank whose name hangs, again and again."""
    while True:
        try:
            await to.call(_READ, SendProgress())
            ended.append("answered")
        except ProviderError as failure:
            ended.append(str(failure.reason))


async def connect_anew(url: str) -> float:
    """Pay at a bank that nothing is known of yet, over a new connection; return the seconds."""
    began = time.monotonic()
    to = HttpTransport(url, _LIMITS, Environment.SANDBOX)
    await to.start()
    try:
        await to.call(_ORDER, SendProgress(Deadline(began + 30.0, time.monotonic)))
        return time.monotonic() - began
    finally:
        await to.close()


@dataclass
class Load:
    """New connections to the good bank, evenly spaced, and how they fared."""

    url: str
    count: int
    rate: float
    took: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    async def run(self) -> None:
        paying = []
        for _ in range(self.count):
            paying.append(asyncio.create_task(self._one()))
            await asyncio.sleep(1 / self.rate)
        await asyncio.gather(*paying)

    async def _one(self) -> None:
        try:
            self.took.append(await connect_anew(self.url))
        except ProviderError as failure:
            self.failed.append(str(failure.reason))


async def measured(seconds: float, rate: float) -> dict[str, object]:
    """Load the good bank, first alone and then beside the one that hangs."""
    ended: list[str] = []
    async with standing(ScriptedBank(saying(answer()))) as bank:
        alone, beside = (
            Load(f"http://good.bank.test:{bank.port}", int(seconds * rate), rate) for _ in range(2)
        )
        await alone.run()
        hanging = HttpTransport(
            f"http://hanging.bank.test:{bank.port}", _LIMITS, Environment.SANDBOX
        )
        await hanging.start()
        asking = [asyncio.create_task(keep_asking(hanging, ended)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0.2)
        await beside.run()
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await hanging.close()
    return {
        "alone": sorted(alone.took),
        "beside": sorted(beside.took),
        "failed": beside.failed,
        "hanging": sorted(set(ended)),
    }


def main() -> None:
    """Measure once."""
    seconds, rate = float(sys.argv[1]), float(sys.argv[2])
    with silent_name_server(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.stdout.write(json.dumps(runner.run(measured(seconds, rate))))


if __name__ == "__main__":
    main()
