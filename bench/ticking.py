"""A timer that keeps time: event loops round theirs to milliseconds, the kernel's does not."""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_MONOTONIC = 1
_NONBLOCK = os.O_NONBLOCK
_COUNT = 8


class _Span(ctypes.Structure):
    """``struct timespec``."""

    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    """``struct itimerspec``."""

    _fields_ = (("interval", _Span), ("first", _Span))


@contextmanager
def ticks(interval_s: float, tick: Callable[[], None]) -> Iterator[None]:
    """
    Call on the running loop at even intervals for the length of the block.

    Intervals that went by while the loop was busy are one call.

    Raises:
        OSError: the kernel has no timer for us.
    """
    loop, timer = asyncio.get_running_loop(), _started(interval_s)

    def read() -> None:
        os.read(timer, _COUNT)
        tick()

    loop.add_reader(timer, read)
    try:
        yield
    finally:
        loop.remove_reader(timer)
        os.close(timer)


def _started(interval_s: float) -> int:
    """Start a timer of the kernel; Python has them from 3.13 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    timer: int = libc.timerfd_create(_MONOTONIC, _NONBLOCK)
    seconds, nanoseconds = divmod(round(interval_s * 1e9), 1_000_000_000)
    span = _Span(seconds, nanoseconds)
    if timer < 0 or libc.timerfd_settime(timer, 0, ctypes.byref(_Setting(span, span)), None):
        raise OSError(ctypes.get_errno(), "timerfd")
    return timer
