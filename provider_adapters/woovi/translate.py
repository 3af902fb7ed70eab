"""
Woovi's answers as our values; no I/O.

Each function raises a ``ProviderError`` for an answer that is not what was asked for: by status
and sentence for a refusal, ``BadReply`` for what cannot be read. Payouts and refunds have modules
of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from gateway.banks.port.charges import (
    Charge,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.banks.port.pix_keys import KeyOwner, PixKey, PixKeyStatus
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import NotFound, Page, ProviderError
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.money import Money, Sum
from gateway.core.strict import cleaned_text, hidden_tax_number
from gateway.core.windows import Window
from provider_adapters.kit import banks, brcode, money, paging
from provider_adapters.kit.answers import (
    Inside,
    ProviderAnswer,
    decode_body,
    listed,
    listed_error,
    provider_id,
    reader,
    try_body,
    try_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.payers import payer_of
from provider_adapters.kit.times import utc
from provider_adapters.woovi import documents, words

Document = TypeVar("Document")
Item = TypeVar("Item")
Value = TypeVar("Value")

OK: Final = frozenset({200})
CREATED: Final = frozenset({200, 201})
DELETED: Final = 204
_NOT_FOUND: Final = 404
_NO_CODE: Final = "OTHER"
# Looking a member up by its name costs Python 3.11 a call each time.
_OTHER: Final = MovementKind.OTHER
_NOBODY: Final = Party()


def failure(answer: ProviderAnswer) -> ProviderError:
    """Return the error that a refusal means."""
    return listed_error(answer, error_code(answer), words.ERRORS)


def error_code(answer: ProviderAnswer) -> str:
    """Return a refusal's code, the bank's or ours for its sentence; empty when it is none."""
    document = try_document(answer, documents.REFUSAL)
    if document is None:
        return ""
    text = document.error or next((each.message for each in document.errors), "")
    if document.code:
        return document.code
    return words.SAID.get(text, _NO_CODE) if text else ""


read: Final = reader(failure)


def reached(answer: ProviderAnswer) -> None:
    """Accept the bank's list of keys: the bank was reached."""
    read(answer, documents.PUBLIC_KEYS, lambda document: document.inside)


def balance(answer: ProviderAnswer, asked: str) -> Balance:
    """Read the balance of the account that was asked for; the bank tells no time."""

    def shape(document: Inside[documents.Account]) -> Balance:
        account = document.inside
        if account.account_id != asked:
            raise ValueError(Reason.KEY_MISMATCH)
        held = account.balance
        return Balance(
            balance=Sum(held.total), blocked=money.unsigned_sum(held.blocked), updated_at=None
        )

    return read(answer, documents.ACCOUNT, shape)


def statement(answer: ProviderAnswer, cursor: str | None, window: Window) -> Page[Entry]:
    """Read a page of the statement: a bare list, over when it is empty."""

    def shape(lines: list[documents.Movement]) -> Page[Entry]:
        page = paging.skipped([_entry(line) for line in lines], cursor, more=None)
        fresh = paging.unrepeated(page, cursor, lambda entry: entry.provider_id)
        return newest_first(fresh, window, lambda entry: entry.created_at)

    return read(answer, documents.STATEMENT, shape)


def newest_first(page: Page[Item], window: Window, at: Callable[[Item], datetime]) -> Page[Item]:
    """Keep what is inside the window, and put it in order: the bank promises none."""
    kept = paging.within(page, window, at)
    return replace(kept, items=sorted(kept.items, key=at, reverse=True))


def keys(answer: ProviderAnswer, cursor: str | None) -> Page[PixKey]:
    """Read a page of the keys."""

    def shape(document: Inside[list[documents.Key]]) -> Page[PixKey]:
        found = [_key(key.key, key.type) for key in document.inside]
        return paging.skipped(found, cursor, more=None)

    return read(answer, documents.KEYS, shape)


def created_key(answer: ProviderAnswer) -> PixKey:
    """Read a key that was registered, in either form that the bank's documents show."""
    if try_document(answer, documents.KEY_PAGE) is None:
        return read(answer, documents.KEY, lambda made: _key(made.key, made.type), CREATED)

    def shape(page: Inside[documents.KeyShown]) -> PixKey:
        return _key(page.inside.pix_key, page.inside.type)

    return read(answer, documents.KEY_PAGE, shape, CREATED)


def cancelled_key(answer: ProviderAnswer, key: PixKey) -> PixKey:
    """Read that a key was given up; a 404 in the bank's own shape says that there is none."""
    if answer.status == _NOT_FOUND and error_code(answer):
        raise NotFound(Reason.NOT_FOUND, http_status=answer.status)
    if answer.status != DELETED:
        raise failure(answer)
    return replace(key, status=PixKeyStatus.CANCELED)


def owner(answer: ProviderAnswer) -> KeyOwner:
    """Read the owner of a key; a person's tax number is masked, whatever the bank sent."""

    def shape(document: documents.KeyCheck) -> KeyOwner:
        found = document.owner
        bank = banks.by_ispb(found.psp or "")
        return KeyOwner(
            key=document.pix_key,
            type=listed(words.KEY_TYPES, document.type),
            name=cleaned_text(found.name),
            tax_number=hidden_tax_number(documents.tax_number_of(found.tax_id)),
            ispb=cleaned_text(found.psp),
            bank_number="" if bank is None else bank.compe,
            bank_name="" if bank is None else bank.name,
            branch=cleaned_text(found.branch),
            account=cleaned_text(found.account),
        )

    return read(answer, documents.KEY_CHECK, shape)


def charge(answer: ProviderAnswer, reference: str, now: datetime) -> Charge:
    """
    Read a charge; one that the bank calls expired has expired by ``now`` at the latest.

    Raises:
        NotFound: The bank took the reference for its own id of another charge.
    """

    def shape(document: Inside[documents.Charge]) -> Charge:
        return _charge(document.inside, now, answer.unknown_word)

    found = read(answer, documents.CHARGE, shape)
    if found.reference != reference:
        raise NotFound(Reason.NOT_FOUND)
    return found


def deleted(answer: ProviderAnswer) -> None:
    """Read that a charge was cancelled, or an address removed."""
    read(answer, documents.DELETED, lambda document: document.inside)


def _entry(line: documents.Movement) -> Entry:
    """
    Read a line of the statement; a debit may have a minus.

    The bank tells neither what kind of movement it is nor an end-to-end id.
    """
    direction = listed(words.DIRECTIONS, line.type)
    if line.value < 0 and direction is not Direction.DEBIT:
        raise ValueError(Reason.WRONG_SHAPE)
    return Entry(
        provider_id=provider_id(line.id),
        e2e_id="",
        direction=direction,
        is_pix=True,
        value=Money(abs(line.value)),
        description=cleaned_text(line.description),
        counterparty=_NOBODY,
        created_at=line.time.astimezone(UTC),
        kind=_OTHER,
    )


def _key(key: str, kind: str) -> PixKey:
    """Read a key; the bank lists those that can be paid to, and gives them no ids."""
    if not key:
        raise ValueError(Reason.WRONG_SHAPE)
    return PixKey(
        provider_id="",
        key=key,
        type=listed(words.KEY_TYPES, kind),
        status=PixKeyStatus.ACTIVE,
        created_at=None,
    )


def _charge(document: documents.Charge, now: datetime, unknown: UnknownWord) -> Charge:
    status = words.CHARGE_STATUSES.get(document.status)
    if status is None or document.type not in {None, *words.CHARGE_TYPES}:
        unknown()
    expires_at = utc(document.expires_date)
    if document.status == words.EXPIRED:
        expires_at = min(expires_at or now, now)
    emv = (document.br_code or "").strip()
    receiver = brcode.receiver(emv)
    return Charge(
        reference=document.correlation_id,
        type=ChargeType.DYNAMIC,
        key=document.pix_key or "",
        value=money.unsigned(document.value),
        status=status or ChargeStatus.ACTIVE,
        emv=emv,
        reusable=False,
        payer=payer(document.customer, None),
        receiver=Party(name=receiver.name),
        city=receiver.city,
        zip_code=receiver.postal_code or "",
        created_at=utc(document.created_at),
        expires_at=expires_at,
    )


def payer(told: msgspec.Raw, message: str | None) -> Payer | None:
    """Read who paid, or is asked to pay; None when nobody is named."""
    person = try_body(told, documents.CUSTOMER)
    if person is None:
        return None
    return payer_of(person.name, documents.tax_number_of(person.tax_id), message)


def public_keys(body: bytes) -> Sequence[tuple[str, str]]:
    """Read the keys that callbacks are signed with: id and PEM of each."""
    return [(key.id, key.key) for key in decode_body(body, documents.PUBLIC_KEYS).inside]
