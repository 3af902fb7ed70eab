"""The credentials with the most errors in the last minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from heapq import nlargest
from typing import Final

from gateway.telemetry.metrics.families import Key
from gateway.telemetry.records import AccessRecord

_MINUTES: Final = 5
_WORST: Final = 10
_LIMITED, _FAILED = 429, 500
_NOT_OFFERED, _BANK_FAILED = 501, 502
"""501 is what the contract promises for cancelling a payout; 502 is a bank's failure."""


class WorstCredentials:
    """
    Counts requests that were not served, by credential and minute.

    Credentials come and go, so their ids cannot be labels of a counter, whose series stay: the
    ten worst of the last five minutes are shown.
    """

    def __init__(self) -> None:
        self._minutes: dict[int, Counter[Key]] = {}

    def add(self, record: AccessRecord, at: datetime) -> None:
        """Count a request of a known credential that was answered with an error at an instant."""
        minute = _minute(at)
        counts = self._minutes.get(minute)
        if counts is None:
            kept = {each: of for each, of in self._minutes.items() if _is_recent(each, minute)}
            counts = Counter[Key]()
            # A new dict: a scrape reads the former one on a thread of its own.
            self._minutes = {**kept, minute: counts}
        counts[record.client_id, record.company_id, _result(record.status)] += 1

    def figures(self, now: datetime) -> Mapping[Key, float]:
        """Return the ten largest counts of each result; safe on another thread than ``add``."""
        total, minute = Counter[Key](), _minute(now)
        for each, counts in self._minutes.items():
            if _is_recent(each, minute):
                total.update(counts.copy())
        by_result: dict[str, list[Key]] = {}
        for key in total:
            by_result.setdefault(key[-1], []).append(key)
        worst = (nlargest(_WORST, keys, total.__getitem__) for keys in by_result.values())
        return {key: total[key] for keys in worst for key in keys}


def _minute(at: datetime) -> int:
    return int(at.timestamp()) // 60


def _is_recent(minute: int, now: int) -> bool:
    """Leave out minutes of the future, too: a clock may be put back."""
    return now - _MINUTES < minute <= now


def _result(status: int) -> str:
    if status == _LIMITED:
        return "limited"
    if status == _BANK_FAILED:
        return "bank_failed"
    return "failed" if status >= _FAILED and status != _NOT_OFFERED else "refused"
