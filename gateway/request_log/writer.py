"""The writer of the request log, which stores lines in batches and in the background."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from gateway.request_log.model import LoggedRequest
from gateway.telemetry.logs.events import Fields
from gateway.telemetry.logs.lines import encode
from gateway.telemetry.metrics.families import OTHER
from gateway.telemetry.metrics.series import METHODS
from gateway.telemetry.ports import Count, Event
from gateway.telemetry.records import AccessRecord

# Bounds the memory while the store is slow; beyond it, lines are dropped and counted.
_MOST_WAITING: Final = 5_000
_MOST_COMMON: Final = 200
"""Common requests that are kept from one turn to the next, which is a second."""
_MOST_REFUSED: Final = 10
"""Refusals of one credential with one code and reason that are kept in the same time."""
_BATCH: Final = 100
"""Small enough that writing one does not hold a request up by more than a millisecond or two."""
_GOOD: Final = 400
_UNKEPT: Final = frozenset({"panel.static", "panel_pages.badges"})
"""Styles and scripts that everybody may fetch, and counts that each open page asks for."""
_PAGES: Final = "panel_pages"
_NO_SESSION: Final = "SESSION_REQUIRED"
"""What a page that was left open is answered until somebody signs in again."""
_READING: Final = frozenset({"GET", "HEAD"})

_Taken = tuple[datetime, AccessRecord, Fields]
Add = Callable[[Sequence[LoggedRequest]], Awaitable[None]]
"""As ``RequestLog.add``."""


@dataclass(slots=True)
class _Refusals:
    """Number of a credential's refusals with one code and reason, and the last unstored one."""

    number: int = 0
    last: _Taken | None = None


class RequestLogWriter:
    """
    Stores requests for operators to search.

    No request waits for it: lines that arrive faster than they are stored are dropped and counted,
    as are lines that the store refuses. Under load common requests are thinned out: a partner's
    successful reads, which operators do not search one by one, and requests without a credential,
    so that a stranger cannot fill the store. Storing a line costs several times as much as logging
    it. Of a credential's refusals with one code and reason, the refusals beyond ten a second are
    one line with their number (``thinned``), so that a client in a loop cannot fill the store.
    Changes and acts of people are never thinned.
    """

    def __init__(self, store: Add, count: Count, most: int = _MOST_WAITING) -> None:
        """Keep at most ``most`` lines in memory."""
        self._store = store
        self._count = partial(count, Event.REQUEST_LOG)
        self._most = most
        self._common_left = _MOST_COMMON
        self._refused: defaultdict[tuple[str, str, str], _Refusals] = defaultdict(_Refusals)
        self._waiting: deque[_Taken] = deque()
        self._storing = asyncio.Lock()

    def keep(self, at: datetime, record: AccessRecord, line: Fields) -> None:
        """Queue a line; raises nothing."""
        if record.route in _UNKEPT and record.status < _GOOD:
            return
        if record.surface == _PAGES and record.code == _NO_SESSION:
            return
        if record.client_id and record.status >= _GOOD:
            refusals = self._refused[record.client_id, record.code, record.reason]
            refusals.number += 1
            if refusals.number > _MOST_REFUSED:
                if refusals.last is not None:
                    self._count("thinned")
                refusals.last = at, record, line
                return
        elif not record.user_id and (not record.client_id or record.method in _READING):
            if not self._common_left:
                self._count("thinned")
                return
            self._common_left -= 1
        self._wait(at, record, line)

    def _wait(self, at: datetime, record: AccessRecord, line: Fields) -> None:
        """Queue a line for the next turn."""
        if len(self._waiting) >= self._most:
            self._count("dropped")
            return
        self._waiting.append((at, record, line))

    async def run_once(self) -> int:
        """
        Store the queue; return the number of requests.

        Lines that arrive meanwhile wait for the next turn: under load every batch would leave a
        handful behind it, each stored by a commit of its own.
        """
        self._common_left = _MOST_COMMON
        refused = list(self._refused.values())
        self._refused.clear()
        for each in refused:
            if each.last is not None:
                at, record, line = each.last
                thinned = each.number - _MOST_REFUSED - 1
                self._wait(at, record, {**line, "thinned": thinned} if thinned else line)
        return await self.flush()

    async def flush(self) -> int:
        """Store the queue, after the batch under way; return the number of requests."""
        async with self._storing:
            waiting = len(self._waiting)
            for stored in range(0, waiting, _BATCH):
                size = min(_BATCH, waiting - stored)
                await self._add([self._waiting.popleft() for _ in range(size)])
            return waiting

    async def _add(self, batch: list[_Taken]) -> None:
        """Store a batch; a batch that the store refuses is dropped: newer lines are worth more."""
        result = "dropped"
        try:
            await self._store([_logged(*each) for each in batch])
            result = "kept"
        finally:
            for _ in batch:
                self._count(result)


def _logged(at: datetime, record: AccessRecord, line: Fields) -> LoggedRequest:
    return LoggedRequest(
        at=at,
        trace_id=record.trace_id,
        surface=record.surface,
        route=record.route,
        status=record.status,
        code=record.code,
        client_id=record.client_id,
        user_id=record.user_id,
        company_id=record.company_id,
        method=record.method if record.method in METHODS else OTHER,
        account_id=record.account_id if record.client_id or record.user_id else "",
        reason=record.reason,
        duration_us=int(record.duration_s * 1e6),
        line=encode(line).decode().rstrip("\n"),
    )
