"""What adapters return: every part of every answer, wrong in each way, and right in odd ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum

import msgspec
import pytest

from gateway.banks.port.providers import Page
from gateway.banks.port.statements import Balance
from gateway.core.money import LARGEST_SUM, MAX_CENTAVOS, Money, Sum
from gateway.telemetry.ports import Event
from tests.world.answers import (
    CALLS,
    CANARY,
    E2E,
    ENTRY,
    PIX_KEY,
    RECEIVED,
    VALUE,
    CheckedWorld,
    changed,
    forged,
    saying,
)

SAY_NOTHING = {"acknowledge_events", "probe", "remove_callback"}
"""That they returned is enough."""


async def test_another_type_is_not_accepted():
    for name in sorted(set(CALLS) - SAY_NOTHING):
        for nonsense in (None, object(), CANARY, {"saldo": 1}, 10.5, True, (object(),), Money(1)):
            world = CheckedWorld(**{name: saying(nonsense)})

            await world.fails(name, "adapter_answer_invalid")


BRAZIL = timezone(timedelta(hours=-3))
WRONG: dict[type, tuple[object, ...]] = {
    str: (None, 7, b"x", "a\nb", "\x00", "\x9b1m", "\ud800", "x" * 5001),
    bool: (None, 1, "true"),
    Money: (10.5, 1050, "10.50", forged(10.5), forged(True), forged(MAX_CENTAVOS + 1)),
    Sum: (10.5, 1050, "10.50", Sum(10.5), Sum(True), Sum(LARGEST_SUM + 1)),  # type: ignore[arg-type]
    datetime: (
        "2026-11-22",
        0,
        datetime(2026, 11, 22),  # noqa: DTZ001 - without a zone: the case
        datetime(9999, 12, 31, 23, tzinfo=BRAZIL),
    ),
}
SIGNED = frozenset({("get_balance", "balance")})
FREE = frozenset(
    {
        *("evidence.reason", "evidence.provider_code"),
        *("notice.event", "notice.subject", "notice.account", "notice.provider_id"),
    }
)
"""Words that are replaced, since they prove nothing; of a callback, when it is stored."""


TYPED: dict[str, tuple[str, ...]] = {
    "get_charge": ("key", "city", "zip_code", "receiver.name", "receiver.tax_number"),
    "list_statement": ("description", "counterparty.name", "counterparty.tax_number"),
    "look_up_key": (
        *("name", "tax_number", "ispb", "bank_number", "bank_name", "branch", "account"),
    ),
    "list_blocks": ("reference",),
    "list_refunds": ("description", "reference", "payment_reference"),
    "list_received": ("reference",),
    "get_charge_payment": (),
}
"""Texts that people wrote: each is cleaned, or emptied where cleaned it could name another."""
TYPED |= dict.fromkeys(("create_charge", "cancel_charge"), TYPED["get_charge"])
TYPED |= {"find_refund": TYPED["list_refunds"], "find_received": TYPED["list_received"]}
OF_PAYERS = ("payer.name", "payer.tax_number", "payer.message")


def is_typed(name: str, path: str) -> bool:
    return name in TYPED and path in (*TYPED[name], *OF_PAYERS)


def fields(value: object) -> Iterator[tuple[str, object]]:
    """Name the parts of an answer, those of its parts too."""
    if isinstance(value, msgspec.Struct) and not isinstance(value, Sum):
        names: tuple[str, ...] = value.__struct_fields__
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(each.name for each in dataclasses.fields(value))
    else:
        return
    for name in names:
        part = getattr(value, name)
        yield name, part
        yield from ((f"{name}.{below}", deeper) for below, deeper in fields(part))


def spoilt(value: object, path: str, wrong: object) -> object:
    name, _, below = path.partition(".")
    part = spoilt(getattr(value, name), below, wrong) if below else wrong
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **{name: part})
    return dataclasses.replace(value, **{name: part})  # type: ignore[type-var]


def lies() -> Iterator[tuple[str, str, object]]:
    for name, call in CALLS.items():
        answer = call.answer
        one = answer.items[0] if isinstance(answer, Page) else answer
        one = one[0] if isinstance(one, tuple) else one
        for path, part in fields(one):
            if path in FREE or path == "emv":
                continue
            wrong = (object(), part.value) if isinstance(part, Enum) else WRONG.get(type(part), ())
            yield from ((name, path, each) for each in wrong)
            if isinstance(part, Sum) and (name, path) not in SIGNED:
                yield name, path, forged(-1)
            if path.endswith(("e2e_id", "return_id")):
                yield name, path, E2E.lower()
                yield name, path, E2E + "\n"


LIES = list(lies())


def test_the_table_of_invalid_answers_is_large():
    """So that a change of the table does not lose entries unnoticed."""
    assert len(LIES) > 600
    assert {name for name, *_ in LIES} == set(CALLS) - SAY_NOTHING


def lie_of(name: str, path: str, wrong: object, *, rows: int = 1) -> object:
    """Make an answer of a call with one part of it, or of its first row, wrong."""
    answer = CALLS[name].answer
    if isinstance(answer, Page):
        items = [spoilt(answer.items[0], path, wrong), *[answer.items[0]] * (rows - 1)]
        return dataclasses.replace(answer, items=items)
    if isinstance(answer, tuple):
        return [spoilt(answer[0], path, wrong), *[answer[0]] * (rows - 1)]
    return spoilt(answer, path, wrong)


def is_list(name: str) -> bool:
    return isinstance(CALLS[name].answer, Page | tuple)


def rows_of(said: object) -> list[object]:
    """Return the rows of a list, or the one thing that an answer is about."""
    items = said.items if isinstance(said, Page) else said
    return list(items) if isinstance(items, list | tuple) else [items]


def is_odd(name: str, path: str, wrong: object) -> bool:
    """Say whether a bank may have said it: of the right class, and never right."""
    if type(dict(fields(rows_of(CALLS[name].answer)[0]))[path]) is not type(wrong):
        return False
    return (
        isinstance(wrong, str)
        or (isinstance(wrong, datetime) and wrong.tzinfo is not None)
        or (isinstance(wrong, Money) and wrong.centavos == -1)
    )


@pytest.mark.parametrize("name", sorted({name for name, *_ in LIES}))
async def test_every_field_of_an_answer_is_validated(name: str):
    """Types, lengths, control characters, zones, ranges, formats of end-to-end ids."""
    for _, path, wrong in (each for each in LIES if each[0] == name):
        if is_odd(name, path, wrong) and (is_typed(name, path) or is_list(name)):
            continue
        lie = lie_of(name, path, wrong)
        try:
            await CheckedWorld(**{name: saying(lie)}).fails(name, "adapter_answer_invalid")
        except BaseException as problem:
            problem.add_note(f"{path} = {wrong!r}")
            raise


@pytest.mark.parametrize("name", sorted(TYPED))
async def test_hostile_text_is_cleaned_and_the_other_fields_kept(name: str):
    for _, path, wrong in (each for each in LIES if each[0] == name):
        if not is_typed(name, path) or not isinstance(wrong, str):
            continue
        world = CheckedWorld(**{name: saying(lie_of(name, path, wrong))})

        [one] = rows_of(await world.ask(name))

        clean = dict(fields(one))[path]
        assert isinstance(clean, str)
        assert clean.isprintable(), (path, wrong)
        assert len(clean) <= 1024
        assert one == spoilt(rows_of(CALLS[name].answer)[0], path, clean)
        assert not world.counted


@pytest.mark.parametrize("name", sorted(each for each in CALLS if is_list(each)))
async def test_an_invalid_row_is_left_out_and_counted(name: str):
    """Also when it is alone; a row of another class only beside valid ones."""
    for _, path, wrong in (each for each in LIES if each[0] == name):
        if is_typed(name, path) and is_odd(name, path, wrong):
            continue
        for rows in (1, 2) if is_odd(name, path, wrong) else (2,):
            world = CheckedWorld(**{name: saying(lie_of(name, path, wrong, rows=rows))})

            said = rows_of(await world.ask(name))

            assert said == [rows_of(CALLS[name].answer)[0]] * (rows - 1), (path, wrong)
            assert world.counted == {(Event.ROW_UNREADABLE, "p"): 1}


@pytest.mark.parametrize("name", ["list_statement", "list_received", "find_received"])
async def test_an_id_with_a_replacement_character_is_invalid(name: str):
    """It could name another record: undecodable bytes are no part of an id."""
    lie = lie_of(name, "provider_id", "10000\ufffd")

    if is_list(name):
        assert rows_of(await CheckedWorld(**{name: saying(lie)}).ask(name)) == []
    else:
        await CheckedWorld(**{name: saying(lie)}).fails(name, "adapter_answer_invalid")


@pytest.mark.parametrize(
    ("payload", "shown"),
    [("00020126\n", "00020126"), (" 0002\r\n0126\t", "00020126"), ("0002 01 26", "0002 01 26")],
)
async def test_line_breaks_around_a_payload_are_removed(payload: str, shown: str):
    world = CheckedWorld(get_charge=saying(changed(CHARGE, emv=payload)))

    assert await world.ask("get_charge") == changed(CHARGE, emv=shown)


KEY_OWNER, CREATED = CALLS["look_up_key"].answer, CALLS["create_charge"].answer
ELSEWHERE = changed(PIX_KEY, key="other@example.com")
WRONG_ANSWERS: list[tuple[str, str, object]] = [
    ("more than asked for", "list_statement", Page(items=(ENTRY,) * 3, next_cursor=None)),
    ("the same page again", "list_statement", Page(items=(), next_cursor="here")),
    ("no cursor", "list_statement", Page(items=(), next_cursor="")),
    ("no list", "list_statement", Page(items=iter(()), next_cursor=None)),  # type: ignore[arg-type]
    ("a thousand keys", "list_keys", [PIX_KEY] * 1001),
    ("another key's id", "get_key", changed(PIX_KEY, provider_id="")),
    ("another key", "create_key", ELSEWHERE),
    ("another key", "cancel_key", ELSEWHERE),
    ("another key", "look_up_key", changed(KEY_OWNER, key="other@example.com")),
    *(
        ("another reference", name, changed(CALLS[name].answer, reference="order-1043"))
        for name in ("get_charge", "get_charge_payment", "create_charge", "cancel_charge")
    ),
    ("nothing to pay by", "get_charge", changed(CALLS["get_charge"].answer, emv="")),
    ("another value", "create_charge", changed(CREATED, value=Money(1))),
    ("another payment", "find_received", changed(RECEIVED, e2e_id=E2E[:-1] + "9")),
    ("no payload", "get_charge", changed(CALLS["get_charge"].answer, emv="\ud800")),
    ("no payload", "get_charge", changed(CALLS["get_charge"].answer, emv="x" * 5001)),
    ("no payload", "get_charge", changed(CALLS["get_charge"].answer, emv=b"00020126")),
    ("more given back", "find_received", changed(RECEIVED, refunded=Money(1051))),
    ("nothing paid", "find_received", changed(RECEIVED, value=Money(0))),
    ("of no payment", "find_refund", changed(CALLS["find_refund"].answer, payment_e2e_id="")),
    ("another refund", "find_refund", changed(CALLS["find_refund"].answer, provider_key="f" * 32)),
]


async def test_an_answer_about_another_record_is_refused():
    """Keys, references, values and ends of lists must be those requested."""
    for name, lie in [each[1:] for each in WRONG_ANSWERS]:
        await CheckedWorld(**{name: saying(lie)}).fails(name, "adapter_answer_invalid")


def entry(**parts: object) -> Page[object]:
    return Page(items=[changed(ENTRY, **parts)], next_cursor=None)


def balance(centavos: int, updated_at: datetime | None) -> Balance:
    return Balance(balance=Sum(centavos), blocked=VALUE, updated_at=updated_at)


CHARGE, PAYMENT = CALLS["get_charge"].answer, CALLS["get_charge_payment"].answer
UNSEEN = "Pão\u00a0de queijo \U0001f469\u200d\U0001f373 \u202eolé"
RIGHT_ANSWERS: list[tuple[str, str, object]] = [
    ("overdrawn", "get_balance", balance(-MAX_CENTAVOS, None)),
    ("more than an amount", "get_balance", balance(MAX_CENTAVOS + 1, None)),
    ("as much as is counted", "get_balance", balance(-LARGEST_SUM, None)),
    ("Brazil's time", "get_balance", balance(1, datetime(2026, 11, 22, tzinfo=BRAZIL))),
    ("an empty page", "list_statement", Page(items=[], next_cursor="there")),
    ("a full page", "list_statement", Page(items=[ENTRY, ENTRY], next_cursor=None)),
    (
        "a refund from elsewhere",
        "list_refunds",
        Page(items=[changed(CALLS["find_refund"].answer, payment_e2e_id="")], next_cursor=None),
    ),
    ("words of people", "list_statement", entry(description=UNSEEN)),
    ("no ids", "list_statement", entry(provider_id="", e2e_id="", provider_key="")),
    ("a long id", "list_statement", entry(provider_id="x" * 128)),
    ("letters in the ISPB", "list_statement", entry(e2e_id="EA1B2C3D4" + E2E[9:])),
    ("no keys", "list_keys", []),
    ("for ever", "get_charge", changed(CHARGE, expires_at=datetime(9999, 12, 31, tzinfo=UTC))),
    ("open and anonymous", "get_charge", changed(CHARGE, value=None, payer=None, created_at=None)),
    ("pending", "get_charge_payment", changed(PAYMENT, paid_at=None, e2e_id="", value=None)),
]


async def test_an_unusual_valid_answer_is_accepted():
    """A payer's text may be anything, and must not hide a whole statement."""
    for name, answer in [each[1:] for each in RIGHT_ANSWERS]:
        world = CheckedWorld(**{name: saying(answer)})

        assert await world.ask(name) == answer
        assert not world.counted
