"""
Cases about odd answers: what a bank may write otherwise without saying anything else.

Every adapter meets the same table. It is for answers that do not decide whether money moved;
those of payouts and refunds are read strictly, and have cases of their own.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import msgspec

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.pix_keys import PixKey
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.providers import NotFound, Page, ProviderError
from gateway.domain.bank.statements import Balance
from gateway.domain.kernel.money import Money
from gateway.telemetry.ports import Event
from provider_adapters.testing.verify.cases import CaseFailed, case
from provider_adapters.testing.verify.relay import Act, Alter, answering, from_request
from provider_adapters.testing.verify.stage import BankAnswer, NotApplicable, Received
from provider_adapters.testing.verify.suite.calls import (
    CHANGES,
    PREPARED,
    Call,
    Ready,
    new_reference,
)
from provider_adapters.testing.verify.suite.reads import yesterday
from provider_adapters.testing.verify.trial import Harness, Trial

_DECIDING: Final = frozenset({PortCall.FIND_PAYOUT, PortCall.FIND_REFUND})
"""Read strictly; the two calls that move money are no reads."""
_LISTS: Final = (
    PortCall.LIST_STATEMENT,
    PortCall.LIST_RECEIVED,
    PortCall.LIST_REFUNDS,
    PortCall.LIST_KEYS,
)
_FEW: Final = 2
_A_PAGE: Final = 50
_HTTP_NOT_FOUND: Final = 404
_IS_NUMBER: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,2})?", re.ASCII)
_ANY: Final[msgspec.json.Decoder[object]] = msgspec.json.Decoder(
    float_hook=lambda number: msgspec.Raw(number.encode())
)

Change = Callable[[object], object]
"""Makes another value of one that is neither a list nor an object with something in it."""


def _as_text(value: object) -> object:
    """Write a number as a text."""
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode()
    return str(value) if type(value) is int else value


def _as_number(value: object) -> object:
    """Write a text of digits as a number."""
    is_number = isinstance(value, str) and _IS_NUMBER.fullmatch(value)
    return msgspec.Raw(str(value).encode()) if is_number else value


def _as_fraction(value: object) -> object:
    """Write a whole number with a fraction of zeros."""
    return msgspec.Raw(b"%d.0" % value) if type(value) is int else value


def _as_null(value: object) -> object:
    """Write null for an empty list and for an object without fields."""
    return None if value in ([], {}) else value


def _with_more(body: bytes) -> bytes:
    """Add fields that nobody knows to every object."""
    return _changed(body, lambda value: value, {"campo_novo": {"a": [1, None]}, "outro": None})


def _walked(value: object, change: Change, more: Mapping[str, object]) -> object:
    if isinstance(value, dict) and value:
        return {**{name: _walked(each, change, more) for name, each in value.items()}, **more}
    if isinstance(value, list) and value:
        return [_walked(each, change, more) for each in value]
    return change(value)


def _changed(body: bytes, change: Change, more: Mapping[str, object] | None = None) -> bytes:
    """Change every value of a document; a body that is no JSON stays as it is."""
    try:
        document = _ANY.decode(body)
    except (msgspec.DecodeError, ValueError):
        return body
    return msgspec.json.encode(_walked(document, change, more or {}))


ODD_FORMS: Final[Mapping[str, Alter]] = {
    "a byte order mark": lambda body: b"\xef\xbb\xbf" + body,
    "unknown fields": _with_more,
    "null for what is empty": lambda body: _changed(body, _as_null),
    "numbers as texts": lambda body: _changed(body, _as_text),
    "texts as numbers": lambda body: _changed(body, _as_number),
    "whole numbers with a fraction": lambda body: _changed(body, _as_fraction),
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
    async with trial.adapter(trial.stage.address) as clean, trial.harness() as harness:
        prepared = await _prepared(trial, Ready(trial, clean))
        wrong = [
            f"{call.value} with {problem}"
            for call, made in prepared.items()
            for problem in await _differences(harness, made, is_change=call in CHANGES)
        ]
    trial.expect(not wrong, "; ".join(wrong))


@case("reads.odd_row")
async def odd_row(trial: Trial) -> None:
    """A row that cannot be read does not take the other rows of its list away; it is counted."""
    await _fill(trial)
    played = 0
    async with trial.harness() as harness:
        for call in _LISTS:
            if call in trial.capabilities.calls:
                played += await _with_an_odd_row(trial, harness, call)
    if not played:
        message = "no list shows two rows"
        raise NotApplicable(message)


@case("reads.absent_in_any_form", needs={PortCall.GET_CHARGE})
async def absent_in_any_form(trial: Trial) -> None:
    """A charge that the bank answers 404 for is not found, whatever form the bank's error has."""
    reference = new_reference()
    async with trial.harness() as harness:
        with contextlib.suppress(NotFound):
            await harness.adapter.get_charge(trial.account, reference)
        named = _last_path(harness)
        with contextlib.suppress(NotFound):
            await harness.adapter.get_charge(trial.account, new_reference())
        if named == _last_path(harness):
            message = "a charge is searched for in a list, which is never absent"
            raise NotApplicable(message)
        for name, body in NOT_FOUND_FORMS.items():
            refusal = BankAnswer(status=_HTTP_NOT_FOUND, body=body)
            harness.relay.begin(from_request(1, Act(play=answering(refusal))))
            looking = harness.adapter.get_charge(trial.account, reference)
            await trial.raised(NotFound, looking, name)


def _last_path(harness: Harness) -> str:
    return harness.relay.seen[-1].path.partition("?")[0]


async def _fill(trial: Trial) -> None:
    """Let something come in on a day with nothing else on it, if the stage can."""
    with contextlib.suppress(NotApplicable):
        for hour in range(3):
            at = yesterday().start + timedelta(hours=12 + hour)
            await trial.stage.put(trial.account, Received(value=Money(20_00 + hour), at=at))


async def _prepared(trial: Trial, ready: Ready) -> Mapping[PortCall, Call]:
    """Prepare every declared call whose answer does not decide whether money moved."""
    found: dict[PortCall, Call] = {}
    for call, prepare in PREPARED.items():
        if call in trial.capabilities.calls and call not in _DECIDING:
            with contextlib.suppress(NotApplicable):
                found[call] = await prepare(ready)
    paged = [call for call in _LISTS if call in found and call is not PortCall.LIST_KEYS]
    return found | {call: partial(_first_page, trial, call) for call in paged}


async def _first_page(trial: Trial, call: PortCall, bank: EveryCall) -> object:
    return await getattr(bank, call.value)(trial.account, yesterday(), None, _A_PAGE)


async def _differences(harness: Harness, made: Call, *, is_change: bool) -> Sequence[str]:
    """Name the forms in which an answer is read otherwise; a change makes a new thing each time."""
    harness.relay.begin(from_request(1, Act()))
    plain = None if is_change else _shown(await made(harness.adapter))
    wrong = []
    for name, alter in ODD_FORMS.items():
        harness.relay.begin(from_request(1, Act(alter=alter)))
        try:
            odd = _shown(await made(harness.adapter))
        except ProviderError as failure:
            wrong.append(f"{name}: {failure!r}")
        else:
            if not is_change and odd != plain:
                wrong.append(f"{name}: {odd!r} and not {plain!r}")
    return wrong


def _shown(answer: object) -> object:
    """Return what an answer says, without the instant at which it was read or the raw body."""
    if isinstance(answer, Balance):
        return answer.balance, answer.blocked
    if isinstance(answer, list | tuple):
        return [getattr(each, "id", each) for each in answer]
    return answer


async def _with_an_odd_row(trial: Trial, harness: Harness, call: PortCall) -> int:
    """Spoil a row of one list; returns 1 if the list has rows enough to lose one."""
    harness.relay.begin(from_request(1, Act()))
    plain = await _names(trial, harness, call)
    if len(plain) < _FEW:
        return 0
    harness.witness.counts.clear()
    harness.relay.begin(from_request(1, Act(alter=_spoilt)))
    found = await _names(trial, harness, call)
    lost = len(plain) - len(found)
    left = found and set(found) < set(plain)
    trial.expect(left, f"{call.value} shows {len(found)} of {len(plain)} rows")
    events = [event for event, _ in harness.witness.counts]
    counted = events.count(str(Event.ROW_UNREADABLE))
    trial.expect(counted >= lost, f"{call.value}: of {lost} rows left out {counted} are counted")
    return 1


async def _names(trial: Trial, harness: Harness, call: PortCall) -> Sequence[str]:
    """Read a list, and name its rows."""
    window = () if call is PortCall.LIST_KEYS else (yesterday(), None, _A_PAGE)
    try:
        found = await getattr(harness.adapter, call.value)(trial.account, *window)
    except ProviderError as failure:
        message = f"{call.value} raised {failure!r}"
        raise CaseFailed(message) from failure
    rows = found.items if isinstance(found, Page) else found
    return [each.key if isinstance(each, PixKey) else each.provider_id for each in rows]


def _spoilt(body: bytes) -> bytes:
    """Put an object of nothing known in the place of the second row of the outermost list."""
    try:
        document = _ANY.decode(body)
    except (msgspec.DecodeError, ValueError):
        return body
    rows = _outermost(document)
    if rows is None:
        return body
    rows[1] = {"campo_novo": True}
    return msgspec.json.encode(document)


def _outermost(document: object) -> list[object] | None:
    """Return the first list of objects that has rows enough."""
    if isinstance(document, list):
        enough = len(document) >= _FEW and isinstance(document[0], dict)
        return document if enough else None
    if not isinstance(document, dict):
        return None
    return next(filter(None, map(_outermost, document.values())), None)
