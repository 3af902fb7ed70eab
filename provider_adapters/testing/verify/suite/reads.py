"""Cases about lists: whatever pages a bank gives, each entry comes once and none is lost."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.statements import Direction, Entry
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import LONGEST_DAYS, Window
from provider_adapters.testing.verify.cases import CaseFailed, case
from provider_adapters.testing.verify.relay import Act, from_request
from provider_adapters.testing.verify.stage import NotApplicable, Received
from provider_adapters.testing.verify.trial import Harness, Trial

_LISTS: Final = frozenset({PortCall.LIST_STATEMENT})
_SECOND: Final = timedelta(seconds=1)
_DAY: Final = timedelta(days=1)
_BANKS_ZONE: Final = ZoneInfo("America/Sao_Paulo")
"""Of a bank that tells days and no instants."""
_MOST_PAGES: Final = 200
_ASKED: Final = 50
_CAP: Final = 3
_FIRST_VALUE: Final = 700_01
"""Centavos; an entry is known again by its amount, which no other has."""

Put = Mapping[int, datetime]
"""Amounts in centavos that came in, and when."""


@case("reads.window_edges", needs=_LISTS)
async def window_edges(trial: Trial) -> None:
    """A window has its first instant, and not the one after its last."""
    day = _today() - 5 * _DAY
    whole, one = Window(day - _DAY, day + _DAY), Window(day, day)
    put = await _put(trial, [one.start - _SECOND, one.start, one.end - _SECOND, one.end])
    async with trial.harness() as harness:
        known = {each.value.centavos: each for each in await walked(trial, harness, whole)}
        found = await walked(trial, harness, one)

    for value, at in put.items():
        trial.expect(value in known, f"what came in at {at} is missing in the days around it")
        trial.expect(_is_at(known[value].created_at, at), f"what came in at {at} has another time")
    mine = [each for each in known.values() if each.value.centavos in put]
    inside = {each.value.centavos for each in mine if one.start <= each.created_at < one.end}
    shown = {each.value.centavos for each in found} & put.keys()
    trial.expect(shown == inside, "a day shows what is outside, or not all that is inside")


@case("reads.equal_instants", needs=_LISTS)
async def equal_instants(trial: Trial) -> None:
    """Entries of one instant are all there, on one page or on several."""
    put = await _put(trial, [_noon()] * 5)

    await _same_in_pages(trial, put, (2, 3))


@case("reads.page_borders", needs=_LISTS)
async def page_borders(trial: Trial) -> None:
    """Pages of any size, one after the other, are the whole list, newest first."""
    put = await _put(trial, [_noon() + number * _SECOND for number in range(5)])

    await _same_in_pages(trial, put, (1, 2, 3, 5))


@case("reads.smaller_cap", needs=_LISTS)
async def smaller_cap(trial: Trial) -> None:
    """A bank that gives fewer than it was asked for has not ended its list."""
    put = await _put(trial, [_noon() + number * _SECOND for number in range(2 * _CAP + 1)])
    sizes = f"{_ASKED}|{trial.capabilities.largest_page}".encode()
    size = re.compile(rb"(?<=[=])(?:" + sizes + rb")(?=[& ])")
    capped: list[bytes] = []

    def ask(request: bytes) -> bytes:
        line, end, rest = request.partition(b"\r\n")
        capped.extend(size.findall(line))
        return size.sub(b"%d" % _CAP, line) + end + rest

    async with trial.harness() as harness:
        harness.relay.begin(from_request(1, Act(ask=ask)))
        found = await walked(trial, harness, yesterday())

    if not capped:
        message = "its lists are not asked for by a number of entries"
        raise NotApplicable(message)
    _complete(trial, found, put)


@case("reads.added_during_walk", needs=_LISTS)
async def added_during_walk(trial: Trial) -> None:
    """What comes in between two pages brings no other entry twice, and hides none."""
    put = await _put(trial, [_noon() + number * _SECOND for number in range(5)])
    window = yesterday()
    async with trial.harness() as harness:
        first = await harness.adapter.list_statement(trial.account, window, None, 2)
        await _put(trial, [_noon() + timedelta(minutes=1)], _FIRST_VALUE + 100)
        rest = await _from(trial, harness, window, first.next_cursor, 2)

    _complete(trial, [*first.items, *rest], put)


@case("reads.empty", needs=_LISTS)
async def empty(trial: Trial) -> None:
    """A day on which nothing moved is an empty list, and no error."""
    day = _today() - 60 * _DAY
    async with trial.harness() as harness:
        found = await walked(trial, harness, Window(day, day))

    trial.expect(found == [], f"it has {len(found)} entries")


@case("reads.ninety_days", needs=_LISTS)
async def ninety_days(trial: Trial) -> None:
    """The longest window is read whole, however the bank bounds its own."""
    window = Window(_today() - (LONGEST_DAYS - 1) * _DAY, _today())
    put = await _put(trial, [window.start + number * _DAY for number in (1, 30, 45, 61, 88)])
    async with trial.harness() as harness:
        found = await walked(trial, harness, window)

    _complete(trial, found, put)


async def walked(
    trial: Trial, harness: Harness, window: Window, limit: int = _ASKED
) -> list[Entry]:
    """Read a statement to its end, each page checked as the gateway checks it."""
    first = await harness.adapter.list_statement(trial.account, window, None, limit)
    items = answers.statement(first, None, limit).items
    return [*items, *await _from(trial, harness, window, first.next_cursor, limit)]


async def _from(
    trial: Trial, harness: Harness, window: Window, cursor: str | None, limit: int
) -> list[Entry]:
    """Read the rest of a statement."""
    entries: list[Entry] = []
    for _ in range(_MOST_PAGES):
        if cursor is None:
            return entries
        page = await harness.adapter.list_statement(trial.account, window, cursor, limit)
        entries += answers.statement(page, cursor, limit).items
        cursor = page.next_cursor
    message = f"the list goes on after {_MOST_PAGES} pages"
    raise CaseFailed(message)


async def _put(trial: Trial, instants: Iterable[datetime], first: int = _FIRST_VALUE) -> Put:
    """Let amounts come in, one at each instant, in this order."""
    put = dict(zip(itertools.count(first), instants, strict=False))
    for value, at in put.items():
        await trial.stage.put(trial.account, Received(value=Money(value), at=at))
    return put


async def _same_in_pages(trial: Trial, put: Put, sizes: Sequence[int]) -> None:
    """Expect the same list in pages of each size."""
    async with trial.harness() as harness:
        whole = await walked(trial, harness, yesterday())
        _complete(trial, whole, put)
        for size in sizes:
            paged = await walked(trial, harness, yesterday(), size)
            trial.expect(paged == whole, f"in pages of {size} the list is another one")


def _complete(trial: Trial, found: Sequence[Entry], put: Put) -> None:
    """Expect each amount once, as money that came in, and the list newest first."""
    times = Counter(each.value.centavos for each in found)
    lost, twice = [v for v in put if not times[v]], [v for v in put if times[v] > 1]
    trial.expect(not lost, f"{len(lost)} of {len(put)} entries are lost")
    trial.expect(not twice, f"{len(twice)} of {len(put)} entries come twice")
    instants = [each.created_at for each in found]
    trial.expect(instants == sorted(instants, reverse=True), "the list is not newest first")
    mine = [each for each in found if each.value.centavos in put]
    came_in = all(each.direction is Direction.CREDIT for each in mine)
    trial.expect(came_in, "money that came in is shown as money that went out")


def _is_at(told: datetime, at: datetime) -> bool:
    """Say whether an entry tells its instant to the second, or the local day alone."""
    local = told.astimezone(_BANKS_ZONE)
    midnight = local.hour == local.minute == local.second == 0
    same_day = local.date() == at.astimezone(_BANKS_ZONE).date()
    return abs(told - at) <= _SECOND or (midnight and same_day)


def _today() -> date:
    return datetime.now(UTC).date()


def quiet_day() -> Window:
    """Return a day with nothing on it, in the zone of a bank that tells days alone, too."""
    day = _today() - 3 * _DAY
    return Window(day, day)


def yesterday() -> Window:
    """Return a day on which nothing moved yet: an account is opened with money of today."""
    return Window(_today() - _DAY, _today() - _DAY)


def _noon() -> datetime:
    return yesterday().start + timedelta(hours=12)
