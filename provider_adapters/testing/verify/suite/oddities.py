"""
Cases about odd answers: what a bank may write otherwise without saying anything else.

Every adapter meets the same table. It is for answers that do not decide whether money moved;
those of payouts and refunds are read strictly, and have cases of their own.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import msgspec
import pytest

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.pix_keys import PixKey
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.providers import NotFound, Page, ProviderError
from gateway.domain.bank.statements import Balance
from gateway.domain.kernel.money import Money
from gateway.telemetry.ports import Event
from provider_adapters.testing.verify import alterations
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import PASS_ON, Act, Alter, answering, from_request
from provider_adapters.testing.verify.stage import BankAnswer, NotApplicable, Received
from provider_adapters.testing.verify.suite.calls import CHANGES, PREPARED, Call
from provider_adapters.testing.verify.suite.reads import noon, yesterday
from provider_adapters.testing.verify.trial import Trial, new_reference

_DECIDING: Final = frozenset({PortCall.FIND_PAYOUT, PortCall.FIND_REFUND})
"""Read strictly; the two calls that move money are no reads."""
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
    for call in [each for each in PREPARED if trial.can(each) and each not in _DECIDING]:
        with contextlib.suppress(NotApplicable):
            prepared[call] = await PREPARED[call](trial)
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
    plain = None if is_change else _shown(await made(trial.adapter))
    wrong = []
    for name, alter in ODD_FORMS.items():
        trial.relay.begin(from_request(1, Act(alter=alter)))
        try:
            odd = _shown(await made(trial.adapter))
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
