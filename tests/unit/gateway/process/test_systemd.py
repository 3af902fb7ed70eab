"""systemd hears that a process is ready, that its event loop runs, and that it stops."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.process.systemd import READY, STOPPING, notifying
from tests.world.leaping import leaping

TEN_S = {"WATCHDOG_USEC": "10000000"}
ALIVE = "WATCHDOG=1"

Received = Callable[[], list[str]]


@pytest.fixture(params=["a file", "an abstract address"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Received]]:
    """The address as systemd writes it, and what came to it since it was asked last."""
    name = str(tmp_path / "notify") if request.param == "a file" else f"@pixgate-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name.replace("@", "\0", 1))
        listening.setblocking(False)

        def received() -> list[str]:
            found = []
            while True:
                try:
                    found.append(listening.recv(4096).decode())
                except BlockingIOError:
                    return found

        yield name, received


@leaping
async def test_the_watchdog_is_notified_twice_per_interval_while_the_loop_runs(
    systemd: tuple[str, Received],
):
    address, received = systemd
    async with notifying({"NOTIFY_SOCKET": address, **TEN_S}) as notify:
        notify(READY)
        started = received()
        await asyncio.sleep(29)
        fed = received()
        notify(STOPPING)
        stopping = received()
    await asyncio.sleep(59)

    assert (started, stopping) == ([READY], [STOPPING])
    assert fed == [ALIVE] * 6
    assert received() == []


@leaping
async def test_the_watchdog_of_another_process_is_not_notified(
    systemd: tuple[str, Received],
):
    address, received = systemd
    for environ in ({}, {**TEN_S, "WATCHDOG_PID": "1"}):
        async with notifying({"NOTIFY_SOCKET": address, **environ}) as notify:
            notify(READY)
            await asyncio.sleep(59)
        assert received() == [READY], environ


@leaping
async def test_a_missing_or_closed_systemd_socket_fails_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async with notifying({}) as notify:
        notify(READY)
    assert caplog.messages == []

    async with notifying({"NOTIFY_SOCKET": str(tmp_path / "gone"), **TEN_S}) as notify:
        notify(READY)
        await asyncio.sleep(59)

    assert "systemd did not get READY=1" in caplog.text
