"""Cases about lists: whatever pages a bank gives, each entry comes once and none is lost."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import pytest

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.statements import Direction, Entry
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import LOCAL, LONGEST_DAYS, Window
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import Act, from_request
from provider_adapters.testing.verify.stage import Received
from provider_adapters.testing.verify.trial import Trial

_LISTS: Final = frozenset({PortCall.LIST_STATEMENT})
_SECOND: Final = timedelta(seconds=1)
_MOST_PAGES: Final = 200
_ASKED: Final = 50
_FIRST_VALUE: Final = 700_01
"""Centavos; an entry is known again by its amount, which no other has."""

Put = Mapping[int, datetime]
"""Amounts in centavos that came in, and when."""


@case("reads.window_edges", needs=_LISTS)
async def window_edges(trial: Trial) -> None:
    """A window has its first instant, and not the one after its last."""
    whole, one = trial.days(-6, -4), trial.days(-5, -5)
    put = await _put(trial, [one.start - _SECOND, one.start, one.end - _SECOND, one.end])
    known = {each.value.centavos: each for each in await walked(trial, whole)}
    found = await walked(trial, one)

    assert put.keys() <= known.keys(), "an entry is missing in the days around it"
    for value, at in put.items():
        assert _is_at(known[value].created_at, at), f"what came in at {at} has another time"
    inside = {value for value in put if one.start <= known[value].created_at < one.end}
    assert {each.value.centavos for each in found} & put.keys() == inside


@case("reads.equal_instants", 0, (2, 3), needs=_LISTS)
@case("reads.page_borders", 1, (1, 2, 3, 5), needs=_LISTS)
async def pages(trial: Trial, apart_s: int, sizes: Sequence[int]) -> None:
    """Pages of any size are the whole list, newest first, also of entries of one instant."""
    put = await _put(trial, [noon(trial) + n * apart_s * _SECOND for n in range(5)])
    whole = await walked(trial, yesterday(trial))
    _complete(whole, put)
    for size in sizes:
        assert await walked(trial, yesterday(trial), size) == whole, f"in pages of {size}"


@case("reads.smaller_cap", needs=_LISTS)
async def smaller_cap(trial: Trial) -> None:
    """A bank that gives fewer than it was asked for has not ended its list."""
    put = await _put(trial, [noon(trial) + number * _SECOND for number in range(7)])
    sizes = f"{_ASKED}|{trial.capabilities.largest_page}".encode()
    size = re.compile(rb"(?<=[=])(?:" + sizes + rb")(?=[& ])")
    capped: list[bytes] = []

    def ask(request: bytes) -> bytes:
        line, end, rest = request.partition(b"\r\n")
        capped.extend(size.findall(line))
        return size.sub(b"3", line) + end + rest

    trial.relay.begin(from_request(1, Act(ask=ask)))
    found = await walked(trial, yesterday(trial))

    applies_if(capped, "its lists are not asked for by a number of entries")
    _complete(found, put)


@case("reads.added_during_walk", needs=_LISTS)
async def added_during_walk(trial: Trial) -> None:
    """What comes in between two pages brings no other entry twice, and hides none."""
    put, window = await _put(trial, [noon(trial) + n * _SECOND for n in range(5)]), yesterday(trial)
    first = await trial.adapter.list_statement(trial.account, window, None, 2)
    await _put(trial, [noon(trial) + timedelta(minutes=1)], _FIRST_VALUE + 100)

    _complete([*first.items, *await _from(trial, window, first.next_cursor, 2)], put)


@case("reads.empty", needs=_LISTS)
async def empty(trial: Trial) -> None:
    """A day on which nothing moved is an empty list, and no error."""
    assert await walked(trial, trial.days(-60, -60)) == []


@case("reads.ninety_days", needs=_LISTS)
async def ninety_days(trial: Trial) -> None:
    """The longest window is read whole, however the bank bounds its own."""
    window = trial.days(1 - LONGEST_DAYS, 0)
    days = (1, 30, 45, 61, 88)
    put = await _put(trial, [window.start + timedelta(days=each) for each in days])

    _complete(await walked(trial, window), put)


async def walked(trial: Trial, window: Window, limit: int = _ASKED) -> list[Entry]:
    """Read a statement to its end, each page checked as the gateway checks it."""
    return await _from(trial, window, None, limit)


async def _from(trial: Trial, window: Window, cursor: str | None, limit: int) -> list[Entry]:
    """Read a statement from a page on, to its end."""
    entries: list[Entry] = []
    for _ in range(_MOST_PAGES):
        page = await trial.adapter.list_statement(trial.account, window, cursor, limit)
        entries += answers.statement(page, cursor, limit).items
        cursor = page.next_cursor
        if cursor is None:
            return entries
    pytest.fail(f"the list goes on after {_MOST_PAGES} pages")


async def _put(trial: Trial, instants: Iterable[datetime], first: int = _FIRST_VALUE) -> Put:
    """Let amounts come in, one at each instant, in this order."""
    put = dict(zip(itertools.count(first), instants, strict=False))
    for value, at in put.items():
        await trial.stage.put(trial.account, Received(value=Money(value), at=at))
    return put


def _complete(found: Sequence[Entry], put: Put) -> None:
    """Expect each amount once, as money that came in, and the list newest first."""
    times = Counter(each.value.centavos for each in found)
    assert {value: times[value] for value in put} == dict.fromkeys(put, 1), "each comes once"
    instants = [each.created_at for each in found]
    assert instants == sorted(instants, reverse=True), "the list is not newest first"
    mine = [each.direction for each in found if each.value.centavos in put]
    assert set(mine) == {Direction.CREDIT}, "money that came in is shown as money that went out"


def _is_at(told: datetime, at: datetime) -> bool:
    """Say whether an entry tells its instant to the second, or the local day alone."""
    local = told.astimezone(LOCAL)
    midnight = local.hour == local.minute == local.second == 0
    same_day = local.date() == at.astimezone(LOCAL).date()
    return abs(told - at) <= _SECOND or (midnight and same_day)


def yesterday(trial: Trial) -> Window:
    """Return a day on which nothing moved yet: an account is opened with money of today."""
    return trial.days(-1, -1)


def noon(trial: Trial, days: int = -1) -> datetime:
    """Return an instant in the middle of a day, counted from today."""
    return trial.days(days, days).start + timedelta(hours=12)
