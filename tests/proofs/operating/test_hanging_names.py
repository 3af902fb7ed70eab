"""A bank whose name server hangs does not delay other banks."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.client.transport import HttpTransport
from gateway.core.account import Environment
from provider_adapters.kit.limits import ClientLimits
from tests.servers import namespaces
from tests.world.banks.roads import READ, tried
from tests.world.banks.scripted import ScriptedBank, answer, saying, standing
from tests.world.extent import WHOLE
from tests.world.waiting import settle, until

ROOT = Path(__file__).parents[3]
AT_ONCE = 64
LIMITS = ClientLimits(connect_s=600.0)
"""Far longer than a look-up, so that a busy machine does not change who fails."""
HANGING = "hanging.test"
SLOWEST_S = 0.05
RATE = 40
"""New connections a second."""
ROUNDS = 5
"""A busy machine delays one connection in a hundred now and then, whatever names do."""


@pytest.fixture(scope="session")
def apart() -> list[str]:
    """The command that gives a program its own mounts and network; skips where it is refused."""
    return namespaces.found()


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone: it measures")
def test_hanging_name_lookups_do_not_slow_calls_to_another_bank(apart: list[str]):
    """64 calls hang at one bank; each of the other's connections is new, with an unknown name."""
    seconds = 20
    slowest = []
    for _ in range(ROUNDS):
        said = measured(apart, seconds, RATE)

        assert said["failed"] == []
        assert said["hanging"] == ["dns_failed"]
        alone, beside = (said[name][int(seconds * RATE * 0.99)] for name in ("alone", "beside"))
        slowest.append((alone, beside))
        if beside < max(SLOWEST_S, 2 * alone):
            return
    pytest.fail(f"of a hundred connections the slowest, alone and beside: {slowest}")


@pytest.fixture
def released() -> threading.Event:
    """Ends every look-up that hangs."""
    return threading.Event()


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch, released: threading.Event) -> Iterator[list[str]]:
    """The system's look-up, which hangs for one name; it is asked for by name and by number."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: str, *given: object, **named: object) -> list:
        if host == HANGING:
            asked.append(host)
            released.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "timed out")
        return real("127.0.0.1" if host.endswith(".test") else host, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield asked
    released.set()


async def test_hanging_name_lookups_hold_at_most_two_threads(
    hanging: list[str], released: threading.Event
):
    """In the machine's own network: no thread that others need is blocked."""
    async with standing(ScriptedBank(saying(answer()))) as bank:
        stuck = HttpTransport(f"http://{HANGING}:{bank.port}", LIMITS, Environment.SANDBOX)
        await stuck.start()
        asking = [asyncio.ensure_future(tried(stuck, READ)) for _ in range(AT_ONCE)]
        await until(lambda: hanging)
        await settle()
        for number in range(20):
            url = f"http://good-{number}.test:{bank.port}"
            other = HttpTransport(url, LIMITS, Environment.SANDBOX)
            await other.start()
            found = await tried(other, READ)
            await other.close()
            assert isinstance(found, ProviderAnswer)
        released.set()
        failed = await asyncio.gather(*asking)
        await stuck.close()

    assert {str(each.reason) for each in failed} == {"dns_failed"}
    assert len(hanging) <= 2


def measured(apart: list[str], seconds: int, rate: int) -> dict[str, list]:
    """Load both banks in a network of their own."""
    done = subprocess.run(
        [
            *apart,
            sys.executable,
            "-m",
            "tests.proofs.operating.hanging_names",
            str(seconds),
            str(rate),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
