"""Errors by what they prove of a payout, never by what is likely."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from pixgate_client.documents import Unreadable, parse, read
from pixgate_client.exchange import Answer

_OURS = "SVC."
"""Every code of the gateway begins so; a proxy's page has none."""


@dataclass(frozen=True, slots=True)
class Problem:
    """
    The last answer that was no success.

    Attributes:
        code, message, trace_id: Empty where the answer was not the gateway's own.
        retry_after_s: Seconds to wait before the next request, if the answer says so.
    """

    status: int = 0
    code: str = ""
    message: str = ""
    trace_id: str = ""
    retry_after_s: float | None = None


class PixgateError(Exception):
    """
    A call failed.

    Attributes:
        reference: Of the payout or charge; empty if the call is about none.
        status: Of the last answer, 0 if none came.
        code, message, trace_id: Of the gateway; empty if the last answer was not its own.
        retry_after_s: Seconds to wait before the next call, None if the answer names no time.
    """

    def __init__(self, text: str, *, reference: str = "", problem: Problem | None = None) -> None:
        problem = problem or Problem()
        said = f"{problem.status or ''} {problem.code} {problem.message}".strip()
        about = f"reference {reference}" if reference else ""
        trace = f"trace {problem.trace_id}" if problem.trace_id else ""
        super().__init__("; ".join(filter(None, (text, said, about, trace))))
        self.reference = reference
        self.status = problem.status
        self.code = problem.code
        self.message = problem.message
        self.trace_id = problem.trace_id
        self.retry_after_s = problem.retry_after_s


class NotSent(PixgateError):
    """Certainly not executed: the payout may be made again, under a new reference too."""


class Unknown(PixgateError):
    """The outcome is not known: pay again with the same reference, never with a new one."""


class Refused(PixgateError):
    """
    The gateway refused the call, which did nothing: look at status and code.

    It says nothing about earlier calls with the same reference.
    """


class RateLimited(Refused):
    """Too many calls: wait ``retry_after_s``, then call again."""


class NotFound(Refused):
    """There is nothing of this reference or id."""


class CursorInvalid(Refused):
    """The cursor is none of this account's feed, or a type is none: begin without a cursor."""


class CursorExpired(Refused):
    """The cursor is over 30 days old: begin without one, and compare the days in between."""


class Unavailable(PixgateError):
    """No usable answer to a call that changes nothing: call again later."""


def problem_of(answer: Answer, now: datetime) -> Problem:
    """Read an error; without its code if it is not the gateway's own."""
    wait_s = _retry_after_s(answer.headers, now)
    try:
        found = read(_ErrorDocument, parse(answer.body))
    except Unreadable:
        return Problem(answer.status, retry_after_s=wait_s)
    if not found.code.startswith(_OURS):
        return Problem(answer.status, retry_after_s=wait_s)
    return Problem(answer.status, found.code, found.message, found.trace_id, wait_s)


@dataclass(frozen=True, slots=True)
class _ErrorDocument:
    code: str
    message: str
    trace_id: str


def _retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read ``Retry-After``: seconds, or a date as some proxies write it."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    with suppress(ValueError, TypeError):
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    return None
