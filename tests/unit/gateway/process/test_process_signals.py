"""Signals that stop a process."""

import asyncio
import os
import signal

import pytest

from gateway.process.process import stop_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_first_signal_is_reported_and_the_handlers_are_removed(number: signal.Signals):
    loop = asyncio.get_running_loop()
    with stop_signals() as asked:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGTERM)

        assert await asked is number

    assert not loop.remove_signal_handler(signal.SIGTERM)
    assert not loop.remove_signal_handler(signal.SIGINT)


async def test_without_a_signal_nothing_is_reported():
    with stop_signals() as asked:
        await asyncio.sleep(0)

        assert not asked.done()
