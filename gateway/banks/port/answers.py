"""
Checks of every value that a bank's adapter returns, before any other code reads it.

Adapters are written by many people. Each function takes the return value of a port call and returns
it typed: of the right classes, with amounts in range, instants with a zone, texts that can be
stored and shown, end-to-end ids of the central bank's form, lists no longer than requested, and
about the requested thing.

A text that people wrote never invalidates an answer: it is cleaned. An invalid row of a list is
left out, and the others stay; the caller counts it.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import msgspec

from gateway.banks.port.charges import (
    Charge,
    ChargeOrder,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import Page
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundStatus
from gateway.banks.port.statements import Balance, Block, BlockKind, Direction, Entry, MovementKind
from gateway.core import strict
from gateway.core.money import LARGEST_SUM, MAX_CENTAVOS, Money, Sum

Item = TypeVar("Item")
Kind = TypeVar("Kind")

_OF_OWNERS: Final = (
    "name", "tax_number", "ispb", "bank_number", "bank_name", "branch", "account",
)  # fmt: skip
LONGEST_ID: Final = 128
"""Of a bank's id: what the store keeps, and four times what banks use."""
_IS_E2E_ID: Final = strict.E2E_ID.fullmatch
_MOST: Final = MAX_CENTAVOS
_LONGEST_CURSOR: Final = 4096  # a bank's cursor may be a signed token; none is as long as this
_MOST_BLOCKS: Final = 10_000  # one for each order under way, where a bank blocks them one by one
_MOST_KEYS: Final = 1000  # the central bank allows 20 an account
_UNREADABLE: Final = "\ufffd"  # an adapter's reader puts it where a bank's bytes are no text
_NO_CONTROLS: Final = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))


class WrongAnswer(ValueError):
    """
    An adapter returned an invalid value.

    Attributes:
        field: Our name of the invalid part, such as ``balance.blocked``; never the value.
    """

    def __init__(self, field: str) -> None:
        """Name what is wrong."""
        super().__init__(field)
        self.field = field


class OddValue(WrongAnswer):
    """An impossible value of the right class: banks send such values, too."""


def balance(answer: object) -> Balance:
    """Check a balance, which may be below zero; its blocked part may not."""
    found = of_type(answer, Balance, "balance")
    _sum(found.balance, "balance.balance")
    if found.blocked is not None:
        _sum(found.blocked, "balance.blocked", least=0)
    instant_or_none(found.updated_at, "balance.updated_at")
    return found


def statement(answer: object, cursor: str | None, limit: int) -> Page[Entry]:
    """Check a page of the statement."""
    return _page(answer, _entry, cursor, limit)


def keys(answer: object) -> Sequence[PixKey]:
    """Check the keys of an account."""
    return rows_of(list_of(answer, _MOST_KEYS, "keys"), _key)


def key(answer: object, account_id: str, key_id: str) -> PixKey:
    """Check one key, asked for by its public id."""
    found = _key(answer)
    same_as(found.public_id(account_id), key_id, "key.public_id")
    return found


def created_key(answer: object, order: KeyOrder) -> PixKey:
    """Check a key that was registered; a random one is drawn by the bank."""
    made = _key(answer)
    same_as(made.type, order.type, "key.type")
    same_as(made.key, order.key or made.key, "key.key")
    return made


def cancelled_key(answer: object, asked: PixKey) -> PixKey:
    """Check a cancelled key."""
    gone = _key(answer)
    same_as(gone.key, asked.key, "key.key")
    return gone


def key_owner(answer: object, asked: str) -> KeyOwner:
    """Check the owner of a key."""
    found = of_type(answer, KeyOwner, "key_owner")
    same_as(found.key, asked, "key_owner.key")
    of_type(found.type, PixKeyType, "key_owner.type")
    return _cleaned(found, "key_owner", *_OF_OWNERS)


def charge(answer: object, reference: str) -> Charge:
    """Check a charge, asked for by its reference."""
    found = _charge(answer, reference)
    if found.status is ChargeStatus.ACTIVE and not found.emv:  # nobody could pay it
        field = "charge.emv"
        raise WrongAnswer(field)
    return found


def _charge(answer: object, reference: str) -> Charge:
    found = of_type(answer, Charge, "charge")
    same_as(found.reference, reference, "charge.reference")
    of_type(found.type, ChargeType, "charge.type")
    of_type(found.status, ChargeStatus, "charge.status")
    of_type(found.reusable, bool, "charge.reusable")
    found = _with(
        _cleaned(found, "charge", "key", "city", "zip_code"),
        emv=_payload(found.emv, "charge.emv"),
        payer=_payer(found.payer, "charge.payer"),
        receiver=_party(found.receiver, "charge.receiver"),
    )
    _unsigned_or_none(found.value, "charge.value")
    instant_or_none(found.created_at, "charge.created_at")
    instant_or_none(found.expires_at, "charge.expires_at")
    return found


def created_charge(answer: object, order: ChargeOrder) -> Charge:
    """Check a created charge; its payload may be missing at first."""
    made = _charge(answer, order.reference)
    same_as(made.value, order.value, "charge.value")
    return made


def charge_payment(answer: object, reference: str) -> ChargePayment:
    """Check a charge seen as a transaction."""
    found = of_type(answer, ChargePayment, "transaction")
    same_as(found.reference, reference, "transaction.reference")
    _unsigned_or_none(found.value, "transaction.value")
    instant_or_none(found.created_at, "transaction.created_at")
    instant_or_none(found.paid_at, "transaction.paid_at")
    e2e_id(found.e2e_id, "transaction.e2e_id")
    return _with(found, payer=_payer(found.payer, "transaction.payer"))


def received(answer: object, asked: str) -> IncomingPayment:
    """Check a payment received, asked for by its end-to-end id."""
    found = _received(answer)
    same_as(found.e2e_id, asked, "received.e2e_id")
    return found


def received_page(answer: object, cursor: str | None, limit: int) -> Page[IncomingPayment]:
    """Check a page of payments received."""
    return _page(answer, _received, cursor, limit)


def refund(answer: object, provider_key: str) -> Refund:
    """Check a refund, queried by our key: our own refunds name their payment."""
    found = _refund(answer)
    e2e_id(found.payment_e2e_id, "refund.payment_e2e_id", or_empty=False)
    same_as(found.provider_key, provider_key, "refund.provider_key")
    return found


def refund_page(answer: object, cursor: str | None, limit: int) -> Page[Refund]:
    """Check a page of refunds."""
    return _page(answer, _refund, cursor, limit)


def blocks(answer: object) -> Sequence[Block]:
    """Check the blocks of an account."""
    return rows_of(list_of(answer, _MOST_BLOCKS, "blocks"), _block)


def nothing(_answer: object) -> None:
    """Accept any return value of a probe: returning is enough."""


def e2e_id(value: object, field: str, *, or_empty: bool = True) -> None:
    """Check an end-to-end id of either way; empty where there is none."""
    if value == "" and or_empty:
        return
    if not strict.is_e2e_id(of_type(value, str, field)):
        raise OddValue(field)


def bank_id(value: object, field: str) -> None:
    """Check an id that a bank gave; empty where it gives none, and never a damaged one."""
    plain_text(value, field, LONGEST_ID)
    if _UNREADABLE in str(value):
        raise OddValue(field)


def amount_above_zero(value: object, field: str) -> None:
    """Check an amount that moved."""
    if _unsigned(value, field) == 0:
        raise OddValue(field)


def _page(
    answer: object, item: Callable[[object], Item], cursor: str | None, limit: int
) -> Page[Item]:
    """Check a page after a cursor; the same object if all of it is valid."""
    page: Page[Item] = of_type(answer, Page, "page")
    found = list_of(page.items, limit, "page.items")
    kept = rows_of(found, item)
    if len(kept) != len(found) or any(map(operator.is_not, kept, found)):
        page = dataclasses.replace(page, items=kept)
    field, following = "page.next_cursor", page.next_cursor
    if following is not None:
        plain_text(following, field, _LONGEST_CURSOR)
        if following in {"", cursor}:  # the same place again: the list would never end
            raise WrongAnswer(field)
    return page


def rows_of(found: Sequence[object], check: Callable[[object], Item]) -> list[Item]:
    """
    Return the valid rows of a list, their texts cleaned; invalid ones are left out.

    Raises:
        WrongAnswer: no row is left, and one has wrong classes: the adapter is faulty.
    """
    try:
        return [check(each) for each in found]
    except WrongAnswer:
        return _right_ones(found, check)


def _right_ones(found: Sequence[object], check: Callable[[object], Item]) -> list[Item]:
    kept: list[Item] = []
    mistakes: list[WrongAnswer] = []
    for each in found:
        try:
            kept.append(check(each))
        except OddValue:
            continue
        except WrongAnswer as wrong:
            mistakes.append(wrong)
    if mistakes and not kept:
        raise mistakes[0]
    return kept


def list_of(value: object, most: int, field: str) -> Sequence[object]:
    """Return a list, bounded in length."""
    if not (type(value) is tuple or type(value) is list) or len(value) > most:
        raise WrongAnswer(field)
    return value


def _entry(answer: object) -> Entry:
    """Check a movement. A statement has thousands, so the usual kind has a fast path."""
    found = of_type(answer, Entry, "entry")
    return found if _is_usual(found) else _looked_over(found)


def _is_usual(entry: Entry) -> bool:
    """Return whether nothing is unusual; unusual movements may be valid, too."""
    value: object = entry.value
    at: object = entry.created_at
    party: object = entry.counterparty
    e2e: object = entry.e2e_id
    if not (
        (type(value) is Money and type(value.centavos) is int and 0 <= value.centavos <= _MOST)
        and (type(at) is datetime and at.tzinfo is UTC)
        and (type(entry.direction) is Direction and type(entry.kind) is MovementKind)
        and (type(party) is Party and type(entry.is_pix) is bool)
        and (type(e2e) is str and (e2e == "" or _IS_E2E_ID(e2e)))
    ):
        return False
    ids = entry.provider_id, entry.provider_key
    try:
        texts = "".join((*ids, entry.description, party.name, party.tax_number))
    except TypeError:
        return False
    return len(texts) <= LONGEST_ID and texts.isprintable() and _UNREADABLE not in texts


def _looked_over(found: Entry) -> Entry:
    """Check every part of a movement, and name the invalid part."""
    bank_id(found.provider_id, "entry.provider_id")
    bank_id(found.provider_key, "entry.provider_key")
    e2e_id(found.e2e_id, "entry.e2e_id")
    of_type(found.direction, Direction, "entry.direction")
    of_type(found.is_pix, bool, "entry.is_pix")
    of_type(found.kind, MovementKind, "entry.kind")
    _unsigned(found.value, "entry.value")
    instant(found.created_at, "entry.created_at")
    party = _party(found.counterparty, "entry.counterparty")
    return _with(_cleaned(found, "entry", "description"), counterparty=party)


def _block(answer: object) -> Block:
    found = of_type(answer, Block, "block")
    of_type(found.kind, BlockKind, "block.kind")
    amount_above_zero(found.value, "block.value")
    instant_or_none(found.since, "block.since")
    return _cleaned(found, "block", "reference")


def _key(answer: object) -> PixKey:
    found = of_type(answer, PixKey, "key")
    bank_id(found.provider_id, "key.provider_id")
    plain_text(found.key, "key.key", LONGEST_ID)
    of_type(found.type, PixKeyType, "key.type")
    of_type(found.status, PixKeyStatus, "key.status")
    instant_or_none(found.created_at, "key.created_at")
    return found


def _received(answer: object) -> IncomingPayment:
    found = of_type(answer, IncomingPayment, "received")
    bank_id(found.provider_id, "received.provider_id")
    e2e_id(found.e2e_id, "received.e2e_id", or_empty=False)
    amount_above_zero(found.value, "received.value")
    _unsigned(found.refunded, "received.refunded", found.value.centavos)
    instant(found.paid_at, "received.paid_at")
    return _with(
        found,
        reference=_reference(found.reference, "received.reference"),
        payer=_payer(found.payer, "received.payer"),
    )


def _refund(answer: object) -> Refund:
    found = of_type(answer, Refund, "refund")
    bank_id(found.provider_key, "refund.provider_key")
    bank_id(found.provider_id, "refund.provider_id")
    e2e_id(found.payment_e2e_id, "refund.payment_e2e_id")
    e2e_id(found.return_id, "refund.return_id")
    amount_above_zero(found.value, "refund.value")
    of_type(found.status, RefundStatus, "refund.status")
    if found.failure is not None:
        of_type(found.failure, FailureCode, "refund.failure")
    instant(found.created_at, "refund.created_at")
    instant_or_none(found.settled_at, "refund.settled_at")
    return _with(
        _cleaned(found, "refund", "description"),
        reference=_reference(found.reference, "refund.reference"),
        payment_reference=_reference(found.payment_reference, "refund.payment_reference"),
    )


def _payer(value: object, field: str) -> Payer | None:
    """Check a payer, who may be missing."""
    if value is None:
        return None
    return _cleaned(of_type(value, Payer, field), field, "name", "tax_number", "message")


def _party(value: object, field: str) -> Party:
    return _cleaned(of_type(value, Party, field), field, "name", "tax_number")


def _payload(value: object, field: str) -> str:
    """Return a charge's payload without line breaks."""
    text = of_type(value, str, field).translate(_NO_CONTROLS).strip()
    return _reference(text, field)


def _reference(value: object, field: str) -> str:
    """Return a reference; empty for an invalid one, which cleaned could be another charge's."""
    try:
        plain_text(value, field)
    except OddValue:
        return ""
    return str(value)


def _cleaned(found: Kind, field: str, *names: str) -> Kind:
    """Return a value with its texts, written by people, cleaned for storing and showing."""
    texts = {name: of_type(getattr(found, name), str, f"{field}.{name}") for name in names}
    return _with(found, **{name: _clean(text) for name, text in texts.items()})


def _clean(text: str) -> str:
    clean = strict.cleaned_text(text)
    return text if clean == text else clean.strip()


def _with(found: Kind, **parts: object) -> Kind:
    """Return a value with these parts; the same object if nothing changes."""
    new: dict[str, Any] = {
        name: part for name, part in parts.items() if part is not getattr(found, name)
    }
    if not new:
        return found
    if isinstance(found, msgspec.Struct):
        return msgspec.structs.replace(found, **new)
    replaced: Any = dataclasses.replace(found, **new)  # type: ignore[type-var]
    return of_type(replaced, type(found), "")


def plain_text(value: object, field: str, longest: int = strict.MAX_TEXT) -> None:
    """Check a text: none of the control characters, no half of a character, not too long."""
    if type(value) is not str:
        raise WrongAnswer(field)
    if len(value) > longest:
        raise OddValue(field)
    if not value.isprintable():  # spaces of other scripts are not, and are welcome
        try:
            strict.plain_text(value, longest)
        except strict.Malformed:
            raise OddValue(field) from None


def of_type(value: object, kind: type[Kind], field: str) -> Kind:
    """Return a value of exactly this type; a subclass could behave otherwise."""
    if type(value) is not kind:
        raise WrongAnswer(field)
    return value


def same_as(value: object, asked: object, field: str) -> None:
    """Check that the answer is about the requested thing."""
    if type(value) is not type(asked) or value != asked:
        raise WrongAnswer(field)


def _sum(value: object, field: str, least: int = -LARGEST_SUM) -> None:
    """Check a sum, which an amount is too."""
    if not isinstance(value, Sum) or type(value) not in {Sum, Money}:
        raise WrongAnswer(field)
    if type(value.centavos) is not int or not least <= value.centavos <= LARGEST_SUM:
        raise WrongAnswer(field)


def _amount(value: object, field: str) -> int:
    """Check an amount, and return its centavos."""
    if type(value) is not Money:
        raise WrongAnswer(field)
    centavos = value.centavos
    if type(centavos) is not int or not -MAX_CENTAVOS <= centavos <= MAX_CENTAVOS:
        raise WrongAnswer(field)  # an amount of our class has these limits
    return centavos


def _unsigned(value: object, field: str, most: int = MAX_CENTAVOS) -> int:
    """Check an amount without a sign, and return its centavos."""
    centavos = _amount(value, field)
    if not 0 <= centavos <= most:
        raise OddValue(field)
    return centavos


def _unsigned_or_none(value: object, field: str) -> None:
    if value is not None:
        _unsigned(value, field)


def instant(value: object, field: str) -> None:
    """Check an instant: with a zone, and one that can be written in UTC."""
    if type(value) is not datetime or value.tzinfo is None:
        raise WrongAnswer(field)
    if value.tzinfo is not UTC:
        try:
            aware = value.utcoffset() is not None and value.astimezone(UTC)
        except (OverflowError, ValueError):
            aware = False
        if not aware:
            raise OddValue(field)


def instant_or_none(value: object, field: str) -> None:
    """Check an instant that may be missing."""
    if value is not None:
        instant(value, field)
