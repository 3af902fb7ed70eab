"""Being told to stop: from the first moment on, by SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

Asked = asyncio.Future[signal.Signals]

_STOPS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_signals() -> Iterator[Asked]:
    """
    Catch both for the length of the block; give a future with the first one.

    Entered before anything is said or started, so that a signal that comes
    early ends the process in order, too.
    """
    loop = asyncio.get_running_loop()
    asked: Asked = loop.create_future()

    def note(number: signal.Signals) -> None:
        if not asked.done():
            asked.set_result(number)

    for number in _STOPS:
        loop.add_signal_handler(number, note, number)
    try:
        yield asked
    finally:
        for number in _STOPS:
            loop.remove_signal_handler(number)
