"""
What a bank's adapter may return, checked before anything else reads it.

Adapters are written by many people. Each function takes whatever a call of the port returned
and gives it back typed: of the right classes, with amounts in range, instants that name their
zone, texts that can be stored and shown, end-to-end ids of the central bank's form, lists no
longer than asked for, and about the thing that was asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

from gateway.domain.bank.charges import (
    Charge,
    ChargeOrder,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.pix_keys import KeyOrder, KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.domain.bank.providers import Page
from gateway.domain.bank.refunds import IncomingPayment, Refund, RefundStatus
from gateway.domain.bank.statements import (
    Balance,
    Block,
    BlockKind,
    Direction,
    Entry,
    MovementKind,
)
from gateway.domain.kernel import strict
from gateway.domain.kernel.money import LARGEST_SUM, MAX_CENTAVOS, Money, Sum

Item = TypeVar("Item")
Kind = TypeVar("Kind")

LONGEST_ID: Final = 128
"""Of a bank's id: what the store keeps, and four times what banks use."""
_IS_E2E_ID: Final = strict.E2E_ID.fullmatch
_MOST: Final = MAX_CENTAVOS
_LONGEST_CURSOR: Final = 4096  # a bank's cursor may be a signed token; none is as long as this
_MOST_BLOCKS: Final = 10_000  # one for each order under way, where a bank blocks them one by one
_MOST_KEYS: Final = 1000  # the central bank allows 20 an account


class WrongAnswer(ValueError):
    """
    What an adapter returned cannot be right.

    Attributes:
        field: What is wrong, by a name of ours such as ``balance.blocked``; never the value.
    """

    def __init__(self, field: str) -> None:
        """Name what is wrong."""
        super().__init__(field)
        self.field = field


def balance(answer: object) -> Balance:
    """Check a balance, which may be below zero; what is blocked may not."""
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
    return [_key(each) for each in list_of(answer, _MOST_KEYS, "keys")]


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
    """Check a key that was given up."""
    gone = _key(answer)
    same_as(gone.key, asked.key, "key.key")
    return gone


def key_owner(answer: object, asked: str) -> KeyOwner:
    """Check who is behind a key."""
    found = of_type(answer, KeyOwner, "key_owner")
    same_as(found.key, asked, "key_owner.key")
    of_type(found.type, PixKeyType, "key_owner.type")
    for name in ("name", "tax_number", "ispb", "bank_number", "bank_name", "branch", "account"):
        plain_text(getattr(found, name), f"key_owner.{name}")
    return found


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
    for name in ("key", "emv", "city", "zip_code"):
        plain_text(getattr(found, name), f"charge.{name}")
    _unsigned_or_none(found.value, "charge.value")
    _payer(found.payer, "charge.payer")
    _party(found.receiver, "charge.receiver")
    instant_or_none(found.created_at, "charge.created_at")
    instant_or_none(found.expires_at, "charge.expires_at")
    return found


def created_charge(answer: object, order: ChargeOrder) -> Charge:
    """Check a charge that was made; its payload may not be known yet."""
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
    _payer(found.payer, "transaction.payer")
    return found


def received(answer: object, asked: str) -> IncomingPayment:
    """Check a payment received, asked for by its end-to-end id."""
    found = _received(answer)
    same_as(found.e2e_id, asked, "received.e2e_id")
    return found


def received_page(answer: object, cursor: str | None, limit: int) -> Page[IncomingPayment]:
    """Check a page of payments received."""
    return _page(answer, _received, cursor, limit)


def refund(answer: object, provider_key: str) -> Refund:
    """Check a refund, asked for by our key: ours names its payment."""
    found = _refund(answer)
    e2e_id(found.payment_e2e_id, "refund.payment_e2e_id", or_empty=False)
    same_as(found.provider_key, provider_key, "refund.provider_key")
    return found


def refund_page(answer: object, cursor: str | None, limit: int) -> Page[Refund]:
    """Check a page of refunds."""
    return _page(answer, _refund, cursor, limit)


def blocks(answer: object) -> Sequence[Block]:
    """Check the blocks of an account."""
    return [_block(each) for each in list_of(answer, _MOST_BLOCKS, "blocks")]


def nothing(_answer: object) -> None:
    """Ask nothing of what a probe returns: that it returned is enough."""


def e2e_id(value: object, field: str, *, or_empty: bool = True) -> None:
    """Check an end-to-end id of either way; empty where there is none."""
    if value == "" and or_empty:
        return
    if type(value) is not str or not strict.is_e2e_id(value):
        raise WrongAnswer(field)


def bank_id(value: object, field: str) -> None:
    """Check an id that a bank gave; empty where it gives none."""
    plain_text(value, field, LONGEST_ID)


def amount_above_zero(value: object, field: str) -> None:
    """Check an amount that moved."""
    if _unsigned(value, field) == 0:
        raise WrongAnswer(field)


def _page(
    answer: object, item: Callable[[object], Item], cursor: str | None, limit: int
) -> Page[Item]:
    """Check a page, asked for behind a cursor."""
    page: Page[Item] = of_type(answer, Page, "page")
    for each in list_of(page.items, limit, "page.items"):
        item(each)
    field, following = "page.next_cursor", page.next_cursor
    if following is not None:
        plain_text(following, field, _LONGEST_CURSOR)
        if following in {"", cursor}:  # the same place again: the list would never end
            raise WrongAnswer(field)
    return page


def list_of(value: object, most: int, field: str) -> Sequence[object]:
    """Return a list that has an end, and that soon enough."""
    if not (type(value) is tuple or type(value) is list) or len(value) > most:
        raise WrongAnswer(field)
    return value


def _entry(answer: object) -> Entry:
    """Check a movement. A statement has thousands, so that the usual kind takes one look."""
    found = of_type(answer, Entry, "entry")
    return found if _is_usual(found) else _looked_over(found)


def _is_usual(entry: Entry) -> bool:
    """Say whether nothing at all is unusual; what is may be right, too."""
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
    return len(texts) <= LONGEST_ID and texts.isprintable()


def _looked_over(found: Entry) -> Entry:
    """Check every part of a movement, and name what is wrong."""
    bank_id(found.provider_id, "entry.provider_id")
    bank_id(found.provider_key, "entry.provider_key")
    e2e_id(found.e2e_id, "entry.e2e_id")
    of_type(found.direction, Direction, "entry.direction")
    of_type(found.is_pix, bool, "entry.is_pix")
    of_type(found.kind, MovementKind, "entry.kind")
    _unsigned(found.value, "entry.value")
    plain_text(found.description, "entry.description")
    _party(found.counterparty, "entry.counterparty")
    instant(found.created_at, "entry.created_at")
    return found


def _block(answer: object) -> Block:
    found = of_type(answer, Block, "block")
    of_type(found.kind, BlockKind, "block.kind")
    amount_above_zero(found.value, "block.value")
    instant_or_none(found.since, "block.since")
    plain_text(found.reference, "block.reference")
    return found


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
    plain_text(found.reference, "received.reference")
    bank_id(found.provider_id, "received.provider_id")
    e2e_id(found.e2e_id, "received.e2e_id", or_empty=False)
    amount_above_zero(found.value, "received.value")
    _unsigned(found.refunded, "received.refunded", found.value.centavos)
    instant(found.paid_at, "received.paid_at")
    _payer(found.payer, "received.payer")
    return found


def _refund(answer: object) -> Refund:
    found = of_type(answer, Refund, "refund")
    for name in ("reference", "payment_reference", "description"):
        plain_text(getattr(found, name), f"refund.{name}")
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
    return found


def _payer(value: object, field: str) -> None:
    """Check a payer, who may be missing."""
    if value is None:
        return
    if type(value) is not Payer:
        raise WrongAnswer(field)
    for name in ("name", "tax_number", "message"):
        plain_text(getattr(value, name), f"{field}.{name}")


def _party(value: object, field: str) -> None:
    if type(value) is not Party:
        raise WrongAnswer(field)
    plain_text(value.name, field)
    plain_text(value.tax_number, field)


def plain_text(value: object, field: str, longest: int = strict.MAX_TEXT) -> None:
    """Check a text: none of the control characters, no half of a character, not too long."""
    if type(value) is not str or len(value) > longest:
        raise WrongAnswer(field)
    if not value.isprintable():  # spaces of other scripts are not, and are welcome
        try:
            strict.plain_text(value, longest)
        except strict.Malformed:
            raise WrongAnswer(field) from None


def of_type(value: object, kind: type[Kind], field: str) -> Kind:
    """Return a value of exactly this type; one of a subclass could behave otherwise."""
    if type(value) is not kind:
        raise WrongAnswer(field)
    return value


def same_as(value: object, asked: object, field: str) -> None:
    """Check that the answer is about what was asked."""
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
        raise WrongAnswer(field)
    return centavos


def _unsigned(value: object, field: str, most: int = MAX_CENTAVOS) -> int:
    """Check an amount without a sign, and return its centavos."""
    centavos = _amount(value, field)
    if not 0 <= centavos <= most:
        raise WrongAnswer(field)
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
            raise WrongAnswer(field)


def instant_or_none(value: object, field: str) -> None:
    """Check an instant that may be missing."""
    if value is not None:
        instant(value, field)
