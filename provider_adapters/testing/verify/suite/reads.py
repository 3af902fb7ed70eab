"""
Cases about reads: whole lists whatever pages a bank gives, exact amounts, and odd answers.

An odd answer is written otherwise and says the same. Every adapter meets the same table of them,
for answers that do not decide whether money moved; those are read strictly.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import msgspec
import pytest

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.pix_keys import PixKey
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.providers import BadReply, NotFound, Page, ProviderError
from gateway.domain.bank.statements import Balance, Direction, Entry
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import LOCAL, LONGEST_DAYS, Window
from gateway.telemetry.ports import Event
from provider_adapters.testing.verify import alterations
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import PASS_ON, Act, Alter, answering, from_request
from provider_adapters.testing.verify.stage import BankAnswer, Charge, NotApplicable, Received
from provider_adapters.testing.verify.suite.calls import CHANGES, MOVES, Call, prepare
from provider_adapters.testing.verify.trial import Trial, new_reference

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

    _complete([*first.items, *await walked(trial, window, 2, first.next_cursor)], put)


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


_VALUE: Final = Money(7_654_31)
"""Whose digits stand for nothing else in an answer."""
_BEGINS: Final = rb'(?<![0-9.\-"A-Za-z])'
_ENDS: Final = rb"(?![0-9.eE])"

Read = Callable[[], Awaitable[Money | None]]
"""Reads an amount through the adapter, signed; None where it is not shown any more."""


@dataclass(frozen=True, slots=True)
class Form:
    """
    A way in which banks write an amount, and how it can be wrong.

    Attributes:
        pattern: Matches the amount in an answer.
        wrong: What stands there instead, by the name of the mistake.
        exact: Mistakes that may be read all the same, as the amount they are.
    """

    pattern: bytes
    wrong: Mapping[str, str]
    exact: Mapping[str, Money]


@case("reads.amount")
async def amount(trial: Trial) -> None:
    """Amounts are those of the bank's books, to the centavo."""
    for call, (read, wanted) in (await _reads(trial)).items():
        assert await read() == wanted, call


@case("reads.third_decimal", "third decimal")
@case("reads.exponent", "exponent")
@case("reads.negative", "negative")
@case("reads.other_type", "other type")
@case("reads.no_amount", "no amount")
async def wrong_amount(trial: Trial, mistake: str) -> None:
    """An amount that the bank does not write so is a BadReply, or read as exactly what it is."""
    played = False
    for call, (read, value) in (await _reads(trial)).items():
        spoilt: list[Form] = []

        def alter(body: bytes, value: Money = value, spoilt: list[Form] = spoilt) -> bytes:
            for form in _forms(value):
                if re.search(form.pattern, body):
                    spoilt.append(form)
                    return re.sub(form.pattern, form.wrong[mistake].encode(), body)
            return body

        trial.relay.begin(from_request(1, Act(alter=alter)))
        try:
            told = await read()
        except BadReply:
            told = None
        trial.relay.begin(lambda _: PASS_ON)
        for form in spoilt:
            played = True
            wrong = form.wrong[mistake]
            assert told in {None, form.exact.get(mistake)}, f"{call} reads {wrong} for {value}"
    applies_if(played, "no answer shows an amount in centavos, as a text or as a number")


async def _reads(trial: Trial) -> Mapping[PortCall, tuple[Read, Money]]:
    """Put an amount where each declared read shows it; returns the reads and what they show."""
    made: dict[PortCall, tuple[Read, Money]] = {}
    if trial.can(PortCall.LIST_STATEMENT):
        # in the zone of a bank that tells days alone, too, nothing else is on that day
        await trial.stage.put(trial.account, Received(value=_VALUE, at=noon(trial, -3)))
        made[PortCall.LIST_STATEMENT] = (lambda: _of_entry(trial)), _VALUE
    if trial.can(PortCall.GET_CHARGE):
        reference = await trial.stage.put(trial.account, Charge(value=_VALUE))
        made[PortCall.GET_CHARGE] = (lambda: _of_charge(trial, reference)), _VALUE
    if trial.can(PortCall.GET_BALANCE):
        before = await _of_balance(trial)
        await trial.stage.put(trial.account, Received(value=_VALUE))
        after = Money(before.centavos + _VALUE.centavos)
        made[PortCall.GET_BALANCE] = (lambda: _of_balance(trial)), after
    applies_if(made, "none of get_balance, list_statement, get_charge is declared")
    return made


async def _of_balance(trial: Trial) -> Money:
    return answers.balance(await trial.adapter.get_balance(trial.account)).balance


async def _of_charge(trial: Trial, reference: str) -> Money | None:
    found = await trial.adapter.get_charge(trial.account, reference)
    return answers.charge(found, reference).value


async def _of_entry(trial: Trial) -> Money | None:
    """Return the only entry of the day; below zero for money that went out."""
    entries = await walked(trial, trial.days(-3, -3))
    assert len(entries) == 1, entries
    value, came_in = entries[0].value, entries[0].direction is Direction.CREDIT
    return value if came_in else Money(-value.centavos)


def _forms(value: Money) -> Iterator[Form]:
    """Return how banks write an amount: as a text, in whole centavos, as a number in reais."""
    reais, less = str(value), Money(-value.centavos)
    yield Form(
        pattern=b'"%s"' % re.escape(reais).encode(),
        wrong={
            "third decimal": f'"{reais}7"',
            "exponent": f'"{_scientific(value, -2)}"',
            "negative": f'"-{reais}"',
            "other type": reais,
            "no amount": '"abc"',
        },
        exact={"exponent": value, "negative": less, "other type": value},
    )
    exact = {"negative": less, "other type": value}
    yield _number(str(value.centavos), f"{value.centavos}.5", _scientific(value), exact)
    yield _number(reais.rstrip("0"), f"{reais}7", _scientific(value, -2), exact)


def _number(right: str, finer: str, scientific: str, exact: Mapping[str, Money]) -> Form:
    """Return a form that is a JSON number, with zeros behind it or without."""
    zeros = b"0*" if "." in right else b""
    return Form(
        pattern=_BEGINS + re.escape(right).encode() + zeros + _ENDS,
        wrong={
            "third decimal": finer,
            "exponent": scientific.replace("e", "7e"),
            "negative": f"-{right}",
            "other type": f'"{right}"',
            "no amount": "true",
        },
        exact=exact,
    )


def _scientific(value: Money, shift: int = 0) -> str:
    """Write centavos with an exponent, which is moved by ``shift``."""
    digits = str(value.centavos)
    return f"{digits[0]}.{digits[1:]}e{len(digits) - 1 + shift}"


_DECIDING: Final = MOVES | {PortCall.FIND_PAYOUT, PortCall.FIND_REFUND}
"""Read strictly."""
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
    "unknown fields": alterations.leaves(_itself, {"campo_novo": {"a": [1, None]}, "outro": None}),
    "null for what is empty": alterations.leaves(_as_null),
    "numbers as texts": alterations.leaves(_as_text),
    "texts as numbers": alterations.leaves(_as_number),
    "whole numbers with a fraction": alterations.leaves(_as_fraction),
}
"""Ways to write the same answer. A new one goes here, and every adapter meets it."""

NOT_FOUND_FORMS: Final[Mapping[str, bytes]] = {
    "a list of errors": b'{"erros": [{"codigo": "4769515", "mensagem": "Nada encontrado."}]}',
    "a problem of another type": b'{"type": "about:blank", "title": "Not Found", "status": 404}',
    "a problem whose type is null": b'{"type": null, "title": "Nada encontrado", "status": 404}',
    "a problem without a type": b'{"title": "Nada encontrado", "status": 404}',
    "a sentence": b'{"mensagem": "Nada encontrado."}',
}
"""Ways in which banks say that the one thing that was named is not there."""


@case("reads.odd_form")
async def odd_form(trial: Trial) -> None:
    """An answer in another form that says the same is read as the same."""
    await _fill(trial)
    prepared: dict[PortCall, Call] = {}
    calls = trial.capabilities.calls - _DECIDING
    for call in sorted(calls, key=lambda each: (each in CHANGES, each)):  # a token comes as it is
        with contextlib.suppress(NotApplicable):
            prepared[call] = await prepare(trial, call)
    prepared |= {each: partial(_first_page, trial, each) for each in _PAGED if each in prepared}
    wrong: list[str] = []
    async with trial.again() as fresh:
        for call, made in prepared.items():
            found = await _differences(fresh, made, is_change=call in CHANGES)
            wrong += [f"{call.value} with {each}" for each in found]
    assert wrong == []


async def _first_page(trial: Trial, call: PortCall, bank: EveryCall) -> object:
    return await getattr(bank, call.value)(trial.account, yesterday(trial), None, 50)


async def _differences(trial: Trial, made: Call, *, is_change: bool) -> Sequence[str]:
    """Name the forms in which an answer is read otherwise; a change makes a new thing each time."""
    trial.relay.begin(lambda _: PASS_ON)
    plain = None if is_change else _said(await made(trial.adapter))
    wrong = []
    for name, alter in ODD_FORMS.items():
        trial.relay.begin(from_request(1, Act(alter=alter)))
        try:
            odd = _said(await made(trial.adapter))
        except ProviderError as failure:
            wrong.append(f"{name}: {failure!r}")
        else:
            if not is_change and odd != plain:
                wrong.append(f"{name}: {odd!r} and not {plain!r}")
    return wrong


def _said(answer: object) -> object:
    """Return what an answer says, without the instant at which it was read or the raw body."""
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
        trial.relay.begin(lambda _: PASS_ON)
        plain = await _names(trial, call)
        if len(plain) > 1:
            played = True
            trial.witness.counts.clear()
            trial.relay.begin(from_request(1, Act(alter=alterations.document(_spoilt))))
            found = await _names(trial, call)
            assert found, f"{call.value} shows no row"
            assert set(found) < set(plain), f"{call.value} shows the odd row"
            counted = [event for event, _ in trial.witness.counts].count(str(Event.ROW_UNREADABLE))
            assert counted >= len(plain) - len(found), f"{call.value} counts {counted} rows"
    applies_if(played, "no list shows two rows")


async def _names(trial: Trial, call: PortCall) -> Sequence[str]:
    """Read a list, and name its rows."""
    window = () if call is PortCall.LIST_KEYS else (yesterday(trial), None, 50)
    found = await getattr(trial.adapter, call.value)(trial.account, *window)
    rows = found.items if isinstance(found, Page) else found
    return [each.key if isinstance(each, PixKey) else each.provider_id for each in rows]


def _spoilt(document: object) -> object:
    """Put an object of nothing known in the place of the second row of the outermost list."""
    rows = _outermost(document)
    if rows is not None:
        rows[1] = {"campo_novo": True}
    return document


def _outermost(document: object) -> list[object] | None:
    """Return the first list of objects that has two rows."""
    if isinstance(document, list):
        return document if len(document) > 1 and isinstance(document[0], dict) else None
    if not isinstance(document, dict):
        return None
    return next(filter(None, map(_outermost, document.values())), None)


async def _fill(trial: Trial) -> None:
    """Let something come in on a day with nothing else on it, if the stage can."""
    with contextlib.suppress(NotApplicable):
        for hour in range(3):
            at = noon(trial) + timedelta(hours=hour)
            await trial.stage.put(trial.account, Received(value=Money(20_00 + hour), at=at))


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
        refusal = BankAnswer(status=404, body=body)
        trial.relay.begin(from_request(1, Act(play=answering(refusal))))
        with pytest.raises(NotFound):
            await trial.adapter.get_charge(trial.account, new_reference())
