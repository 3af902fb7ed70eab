"""Cases about reads: whole lists, exact amounts, and answers that are odd and say the same."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, cast

import msgspec
import pytest

from gateway.banks.port import answers, charges
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.pix_keys import PixKey
from gateway.banks.port.providers import BadReply, NotFound, Page
from gateway.banks.port.statements import Balance, Direction, Entry
from gateway.core.money import Money
from gateway.core.windows import LOCAL, LONGEST_DAYS, Window
from gateway.telemetry.ports import Event
from provider_adapters.testing.verify import relay
from provider_adapters.testing.verify.relay import Alter, Line, altering, answering
from provider_adapters.testing.verify.stage import BankAnswer, Charge, NotApplicable, Received
from provider_adapters.testing.verify.suite.wire import caught
from provider_adapters.testing.verify.trial import (
    CHANGES,
    MOVES,
    Trial,
    applies_if,
    arguments,
    case,
    make,
    new_reference,
)

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
    whole = await walked(trial, trial.days(-1, -1))
    _complete(whole, put)
    for size in sizes:
        assert await walked(trial, trial.days(-1, -1), size) == whole, f"in pages of {size}"


@case("reads.smaller_cap", needs=_LISTS)
async def smaller_cap(trial: Trial) -> None:
    """A bank that gives fewer than it was asked for has not ended its list."""
    put = await _put(trial, [noon(trial) + number * _SECOND for number in range(7)])
    sizes = f"{_ASKED}|{trial.capabilities.largest_page}".encode()
    size = re.compile(rb"(?<=[=])(?:" + sizes + rb")(?=[& ])")
    capped: list[bytes] = []

    async def ask_for_three(line: Line) -> None:
        seen = await line.read()
        first, end, rest = seen.head.partition(b"\r\n")
        capped.extend(size.findall(first))
        await line.say(await line.ask(replace(seen, head=size.sub(b"3", first) + end + rest)))

    trial.relay.begin(ask_for_three)
    found = await walked(trial, trial.days(-1, -1))
    applies_if(capped, "its lists are not asked for by a number of entries")
    _complete(found, put)


@case("reads.added_during_walk", needs=_LISTS)
async def added_during_walk(trial: Trial) -> None:
    """An entry that arrives between two pages repeats no other entry, and hides none."""
    put = await _put(trial, [noon(trial) + n * _SECOND for n in range(5)])
    window = trial.days(-1, -1)
    first = await trial.adapter.list_statement(trial.account, window, None, 2)
    await _put(trial, [noon(trial) + timedelta(minutes=1)], _FIRST_VALUE + 100)
    _complete([*first.items, *await walked(trial, window, 2, first.next_cursor)], put)


@case("reads.empty", needs=_LISTS)
async def empty(trial: Trial) -> None:
    """A day on which nothing moved is an empty list, and no error."""
    assert await walked(trial, trial.days(-60, -60)) == []


@case("reads.ninety_days", needs=_LISTS)
async def ninety_days(trial: Trial) -> None:
    """The longest window is read whole, however the bank bounds its own."""
    window = trial.days(1 - LONGEST_DAYS, 0)
    put = await _put(trial, [window.start + timedelta(each) for each in (1, 30, 45, 61, 88)])
    _complete(await walked(trial, window), put)


async def walked(
    trial: Trial, window: Window, limit: int = _ASKED, cursor: str | None = None
) -> list[Entry]:
    """Read a statement from a page on to its end, each checked as the gateway checks it."""
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
    """Expect each amount once, and the list newest first."""
    times = Counter(each.value.centavos for each in found)
    assert {value: times[value] for value in put} == dict.fromkeys(put, 1), "each comes once"
    instants = [each.created_at for each in found]
    assert instants == sorted(instants, reverse=True), "the list is not newest first"


def _is_at(told: datetime, at: datetime) -> bool:
    """Return whether an entry has the instant to the second, or the local day alone."""
    local = told.astimezone(LOCAL)
    midnight = local.hour == local.minute == local.second == 0
    same_day = local.date() == at.astimezone(LOCAL).date()
    return abs(told - at) <= _SECOND or (midnight and same_day)


def noon(trial: Trial, days: int = -1) -> datetime:
    """Return an instant in the middle of a day, counted from today."""
    return trial.days(days, days).start + timedelta(hours=12)


_VALUE: Final = Money(7_654_31)
"""Whose digits stand for nothing else in an answer."""


@case("reads.amount")
async def amount(trial: Trial) -> None:
    """Amounts are exact; in another form they are a BadReply, or the exact amount."""
    spoilt: list[object] = []
    for call, (given, value) in (await _shown(trial)).items():
        trial.relay.begin()
        assert _signed(await make(trial.adapter, call, given)) == value.centavos, call
        exact = {"negative": -value.centavos, "other type": value.centavos}
        for mistake in ("finer", "negative", "other type", "no amount"):
            before, change = len(spoilt), partial(_miswritten, value, mistake, spoilt)
            trial.relay.begin(altering(relay.alter_leaves(change)))
            try:
                told = _signed(await make(trial.adapter, call, given))
            except BadReply:
                told = None
            right = told in {None, exact.get(mistake)} or len(spoilt) == before
            assert right, f"{call} reads {told} for {spoilt[-1:]}"
    applies_if(spoilt, "no answer shows an amount in centavos, as a text or as a number")


async def _shown(trial: Trial) -> Mapping[PortCall, tuple[tuple[object, ...], Money]]:
    """Put an amount where each declared read shows it; return their arguments and results."""
    account, day = trial.account, trial.days(-3, -3)
    shown: dict[PortCall, tuple[tuple[object, ...], Money]] = {}
    if trial.can(PortCall.LIST_STATEMENT):
        # in the zone of a bank that tells days alone, too, nothing else is on that day
        await trial.stage.put(account, Received(value=_VALUE, at=noon(trial, -3)))
        shown[PortCall.LIST_STATEMENT] = (account, day, None, 50), _VALUE
    if trial.can(PortCall.GET_CHARGE):
        reference = await trial.stage.put(account, Charge(value=_VALUE))
        shown[PortCall.GET_CHARGE] = (account, reference), _VALUE
    if trial.can(PortCall.GET_BALANCE):
        held = (await trial.adapter.get_balance(account)).balance
        await trial.stage.put(account, Received(value=_VALUE))
        shown[PortCall.GET_BALANCE] = (account,), Money(held.centavos + _VALUE.centavos)
    return shown


def _signed(answer: object) -> int | None:
    """Return the centavos of a read; below zero for an entry of money that went out."""
    if isinstance(answer, Balance):
        return answer.balance.centavos
    if isinstance(answer, charges.Charge):
        return None if answer.value is None else answer.value.centavos
    [entry] = cast("Page[Entry]", answer).items
    came_in = entry.direction is Direction.CREDIT
    return entry.value.centavos if came_in else -entry.value.centavos


def _miswritten(value: Money, mistake: str, spoilt: list[object], leaf: object) -> object:
    """Write an amount with a mistake: a number of centavos, or a number or text of reais."""
    text = bytes(leaf).decode() if isinstance(leaf, msgspec.Raw) else str(leaf)
    if text != (str(value.centavos) if type(leaf) is int else str(value)):
        return leaf
    quoted, finer = isinstance(leaf, str), f"{text}7" if "." in text else f"{text}.5"
    made = {
        "finer": finer if quoted else msgspec.Raw(finer.encode()),
        "negative": f"-{text}" if quoted else msgspec.Raw(f"-{text}".encode()),
        "other type": msgspec.Raw(text.encode()) if quoted else text,
        "no amount": "abc" if quoted else True,
    }[mistake]
    spoilt.append(made)
    return made


_DECIDING: Final = MOVES | {PortCall.FIND_PAYOUT, PortCall.FIND_REFUND}
"""Whether money moved; read strictly, so that no odd answer decides it."""
_PAGED: Final = (PortCall.LIST_STATEMENT, PortCall.LIST_RECEIVED, PortCall.LIST_REFUNDS)
_IS_NUMBER: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,2})?", re.ASCII)


def _as_text(value: object) -> object:
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode()
    return str(value) if type(value) is int else value


def _as_number(value: object) -> object:
    digits = isinstance(value, str) and _IS_NUMBER.fullmatch(value)
    return msgspec.Raw(str(value).encode()) if digits else value


def _as_fraction(value: object) -> object:
    return msgspec.Raw(b"%d.0" % value) if type(value) is int else value


def _as_null(value: object) -> object:
    return None if value in ([], {}) else value


def _itself(value: object) -> object:
    return value


ODD_FORMS: Final[Mapping[str, Alter]] = {
    "a byte order mark": lambda body: b"\xef\xbb\xbf" + body,
    "unknown fields": relay.alter_leaves(_itself, {"campo_novo": {"a": [1, None]}, "outro": None}),
    "null for what is empty": relay.alter_leaves(_as_null),
    "numbers as texts": relay.alter_leaves(_as_text),
    "texts as numbers": relay.alter_leaves(_as_number),
    "whole numbers with a fraction": relay.alter_leaves(_as_fraction),
}
"""Ways to write the same answer. A new one goes here, and every adapter meets it."""

NOT_FOUND_FORMS: Final[Mapping[str, bytes]] = {
    "a list of errors": b'{"erros": [{"codigo": "4769515", "mensagem": "Nada encontrado."}]}',
    "a problem of another type": b'{"type": "about:blank", "title": "Not Found", "status": 404}',
    "a problem without a type": b'{"title": "Nada encontrado", "status": 404}',
    "a sentence": b'{"mensagem": "Nada encontrado."}',
}
"""Ways in which banks say that the one thing that was named is not there."""


@case("reads.odd_form")
async def odd_form(trial: Trial) -> None:
    """An answer in another form that says the same is read as the same."""
    await _fill(trial)
    wrong: list[str] = []
    calls = trial.capabilities.calls - _DECIDING
    async with trial.again() as fresh:
        for call in sorted(calls, key=lambda each: (each in CHANGES, each)):  # a token comes as is
            with contextlib.suppress(NotApplicable):
                given = await _given(trial, call)
                fresh.relay.begin()
                plain = _said(await make(fresh.adapter, call, given))
                for name, alter in ODD_FORMS.items():
                    # a change makes a new thing each time
                    given = await _given(trial, call) if call in CHANGES else given
                    fresh.relay.begin(altering(alter))
                    odd = _said(await caught(make(fresh.adapter, call, given)))
                    if isinstance(odd, Exception) or (call not in CHANGES and odd != plain):
                        wrong.append(f"{call.value} with {name}: {odd!r} and not {plain!r}")
    assert wrong == []


async def _given(trial: Trial, call: PortCall) -> tuple[object, ...]:
    paged = (trial.account, trial.days(-1, -1), None, 50)
    return paged if call in _PAGED else await arguments(trial, call)


def _said(answer: object) -> object:
    """Return an answer's content, without the instant of its reading or the raw body."""
    if isinstance(answer, Balance):
        return answer.balance, answer.blocked
    if isinstance(answer, list | tuple):
        return [getattr(each, "id", each) for each in answer]
    return answer


@case("reads.odd_row")
async def odd_row(trial: Trial) -> None:
    """A row that cannot be read does not take the other rows of its list away; it is counted."""
    await _fill(trial)
    played = False
    for call in filter(trial.can, (*_PAGED, PortCall.LIST_KEYS)):
        trial.relay.begin()
        plain = await _names(trial, call)
        if len(plain) > 1:
            played = True
            trial.witness.told.clear()
            trial.relay.begin(altering(relay.alter_document(_spoilt)))
            found = await _names(trial, call)
            assert found, f"{call.value} shows no row"
            assert set(found) < set(plain), f"{call.value} shows the odd row"
            counted = trial.witness.counts.count(Event.ROW_UNREADABLE)
            assert counted >= len(plain) - len(found), f"{call.value} counts {counted} rows"
    applies_if(played, "no list shows two rows")


async def _names(trial: Trial, call: PortCall) -> Sequence[str]:
    """Read a list, and name its rows."""
    found = await make(trial.adapter, call, await _given(trial, call))
    rows = found.items if isinstance(found, Page) else cast("Sequence[PixKey]", found)
    return [each.key if isinstance(each, PixKey) else each.provider_id for each in rows]


def _spoilt(value: object) -> object:
    """Put an object of nothing known in the place of the second row of a list of objects."""
    if isinstance(value, dict):
        return {key: _spoilt(each) for key, each in value.items()}
    if isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict):
        return [value[0], {"campo_novo": True}, *value[2:]]
    return value


async def _fill(trial: Trial) -> None:
    """Let something come in on a day with nothing else on it, if the stage can."""
    with contextlib.suppress(NotApplicable):
        await _put(trial, [noon(trial) + timedelta(hours=hour) for hour in range(3)])


@case("reads.absent_in_any_form", needs={PortCall.GET_CHARGE})
async def absent_in_any_form(trial: Trial) -> None:
    """A charge that the bank answers 404 for is not found, whatever form the bank's error has."""
    paths = set()
    for _ in range(2):
        with contextlib.suppress(NotFound):
            await trial.adapter.get_charge(trial.account, new_reference())
        paths.add(trial.relay.seen[-1].path.partition("?")[0])
    applies_if(len(paths) > 1, "a charge is searched for in a list, which is never absent")
    for body in NOT_FOUND_FORMS.values():
        trial.relay.begin(answering(BankAnswer(status=404, body=body)))
        with pytest.raises(NotFound):
            await trial.adapter.get_charge(trial.account, new_reference())
