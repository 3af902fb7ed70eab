"""
Points at which a sandbox process ends itself, as ``kill -9`` would.

Without the variable no point is called: answers are written whole, and so are orders to a bank
(ADR 0003).
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final

from aiohttp import hdrs

from gateway.config.reading import ConfigError
from gateway.core.account import Environment
from gateway.http.server import Exchange
from gateway.net.common.runtime import Failpoint
from gateway.net.server.lane import Reply

VARIABLE: Final = "PIXGATE_FAILPOINT"
"""``name`` or ``name:n``: end at the n-th time that this process passes the point."""

OF_A_HOLD: Final = ("before_release", "after_release")
"""Around the claim with which the follow-up ends a hold; the payout passes the others then."""
OF_A_DELIVERY: Final = ("after_delivery",)
"""Between the answer of a partner's endpoint and its note."""
OF_A_MOVE: Final = ("after_stop", "after_copy", "after_leaving", "after_map", "after_resume")
"""Between the steps of ``pixgate cells move``."""
OF_AN_ARCHIVE: Final = (
    *("after_draft", "after_noted", "after_named", "after_batch", "after_emptied"),
)
"""Between the steps of ``pixgate payouts archive write``."""
NAMES: Final = (
    "before_insert",
    "after_insert",
    "before_connect",
    "after_connect",
    "mid_body",
    "after_body",
    "before_answer",
    "mid_answer",
    "before_record",
    "after_record",
    "before_reply",
    "mid_reply",
)
"""In the order in which one payout passes them."""


def armed(
    environment: Environment,
    environ: Mapping[str, str],
    end: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGKILL),
) -> Failpoint | None:
    """
    Return the counter of passes, which ends the process; None if no point is armed.

    Raises:
        ConfigError: the variable names an unknown point, or a number below one.
    """
    given = environ.get(VARIABLE, "") if environment is Environment.SANDBOX else ""
    if not given:
        return None
    name, _, number = given.partition(":")
    known = (*OF_A_HOLD, *NAMES, *OF_A_DELIVERY, *OF_A_MOVE, *OF_AN_ARCHIVE)
    if name not in known or (number and not (number.isdecimal() and int(number))):
        message = f"{VARIABLE}: {given!r} is none of {', '.join(known)}, each with :n or without"
        raise ConfigError(message)
    left = int(number or 1)

    def passed(point: str) -> None:
        nonlocal left
        if point == name:
            left -= 1
            if left == 0:
                end()

    return passed


def failing_answers(failpoint: Failpoint) -> Callable[[Exchange, Reply], None]:
    """Add the fail points before and within the answer to a payout."""

    def fail(exchange: Exchange, reply: Reply) -> None:
        is_payout = exchange.record.method == "POST" and exchange.path.endswith("/withdraw")
        if not is_payout or exchange.rest is not None:
            return
        failpoint("before_reply")
        body, reply.body = reply.body or b"", None
        exchange.rest = _halves(body, failpoint)
        reply.headers[hdrs.CONTENT_LENGTH] = str(len(body))

    return fail


async def _halves(body: bytes, failpoint: Failpoint) -> AsyncGenerator[bytes, None]:
    half = len(body) // 2
    yield body[:half]
    await asyncio.sleep(0)  # uvloop writes at the end of a turn of the loop
    failpoint("mid_reply")
    yield body[half:]
