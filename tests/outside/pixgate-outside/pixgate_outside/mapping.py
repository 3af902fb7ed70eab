"""
Reads the bank's answers; tables map its words to ours. No I/O.

TODO: the bank's words, with source and date. A word that is not listed is counted and taken for the
careful choice: a movement is no Pix, a key receives nothing yet, a payout's state is not known.
Each reader raises a ``ProviderError`` for an answer that is not what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec
from gateway.banks.port.charges import (
    Charge,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import CredentialsRefused, NotFound, Page, ProviderError, Reason
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.money import Money
from gateway.core.strict import cleaned_text
from provider_adapters.kit.answers import (
    ProviderAnswer,
    of_status,
    read_document,
    try_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import RefusedBefore

from pixgate_outside import amounts, documents, pages

Document = TypeVar("Document")
Value = TypeVar("Value")

_OK = 200

KEY_TYPES: Final[Mapping[str, PixKeyType]] = {
    "cpf": PixKeyType.CPF,
    "cnpj": PixKeyType.CNPJ,
    "email": PixKeyType.EMAIL,
    "phone": PixKeyType.PHONE,
    "random": PixKeyType.EVP,
}
KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "active": PixKeyStatus.ACTIVE,
    "pending": PixKeyStatus.PENDING,
    "canceled": PixKeyStatus.CANCELED,
}
ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "checking",
    AccountType.SAVINGS: "savings",
    AccountType.SALARY: "salary",
    AccountType.PAYMENT: "payment",
}
CHARGE_TYPES: Final[Mapping[str, ChargeType]] = {
    "dynamic": ChargeType.DYNAMIC,
    "static": ChargeType.STATIC,
}
EXPIRED: Final = "expired"
"""Ours is active, with an expiry in the past."""
CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "active": ChargeStatus.ACTIVE,
    "paid": ChargeStatus.PAID,
    "canceled": ChargeStatus.CANCELED,
    EXPIRED: ChargeStatus.ACTIVE,
}
DIRECTIONS: Final[Mapping[str, Direction]] = {"in": Direction.CREDIT, "out": Direction.DEBIT}
KINDS: Final[Mapping[str, MovementKind]] = {
    "pix": MovementKind.PIX,
    "pix_return": MovementKind.PIX_RETURN,
    "ted": MovementKind.TED,
    "boleto": MovementKind.BOLETO,
    "fee": MovementKind.FEE,
}
PIX: Final = frozenset({MovementKind.PIX, MovementKind.PIX_RETURN})
FAILURES: Final[Mapping[str, FailureCode]] = {
    "account_invalid": FailureCode.ACCOUNT_INVALID,
    "insufficient_funds": FailureCode.INSUFFICIENT_FUNDS,
    "key_not_found": FailureCode.KEY_NOT_FOUND,
    "limit_exceeded": FailureCode.LIMIT_EXCEEDED,
    "not_allowed": FailureCode.REJECTED,
    "owner_mismatch": FailureCode.OWNER_MISMATCH,
    "rejected": FailureCode.REJECTED,
}
"""Why a payout failed; any other word is ``OTHER``."""

REJECTIONS: Final = frozenset(
    {
        (422, "account_invalid"),
        (422, "insufficient_funds"),
        (422, "key_not_found"),
        (422, "limit_exceeded"),
        (422, "not_allowed"),
        (422, "owner_mismatch"),
        (422, "rejected"),
    }
)
"""
The only answers that prove that no money moved or will move, by status and code.

TODO: with its source for each. A pair that is missing here is Unknown, and looked up; a pair
too many may tell a partner that a payout failed which was executed.
"""
FORBIDDEN: Final = frozenset({"limit_exceeded", "not_allowed"})
"""Of those, what the account may not do, as against wrong content."""

REFUSED_BEFORE: Final[RefusedBefore] = {
    (401, "unauthorized"): Reason.CREDENTIALS_REFUSED,
    (403, "wrong_account"): Reason.CREDENTIALS_REFUSED,
    (429, "too_many_requests"): Reason.RATE_LIMITED,
}
"""Answers before the bank looks at the order. TODO: with their source."""

DUPLICATES: Final = frozenset({(409, "duplicate")})
"""The bank knows our key: the payout is read back and compared."""

NOT_FOUND: Final = frozenset({(404, "not_found")})
"""The bank's own word for what it does not have; a bare 404 may come from a proxy."""


def error_code(answer: ProviderAnswer) -> str:
    """Return the bank's error code; empty when there is none to read."""
    document = try_document(answer, documents.REFUSAL)
    return "" if document is None else document.error.code


def failure(answer: ProviderAnswer) -> ProviderError:
    """Return the error that a refused read means."""
    code = (answer.status, error_code(answer))
    if code in NOT_FOUND:
        return NotFound(Reason.NOT_FOUND, http_status=answer.status)
    if REFUSED_BEFORE.get(code) is Reason.CREDENTIALS_REFUSED:
        return CredentialsRefused(Reason.CREDENTIALS_REFUSED, http_status=answer.status)
    return of_status(answer)


def reached(answer: ProviderAnswer) -> None:
    """Accept any answer in the bank's own shape: the bank was reached."""
    if answer.status != _OK and not error_code(answer):
        raise of_status(answer)


def balance(answer: ProviderAnswer) -> Balance:
    """Read a balance."""

    def shape(document: documents.Balance) -> Balance:
        return Balance(
            balance=amounts.read(document.total),
            blocked=amounts.read(document.blocked),
            updated_at=utc(document.updated_at),
        )

    return _read(answer, documents.BALANCE, shape)


def statement(answer: ProviderAnswer, cursor: str | None, unknown: UnknownWord) -> Page[Entry]:
    """Read a page of the statement; a movement of an unknown kind does not count as Pix."""

    def shape(document: documents.Statement) -> Page[Entry]:
        entries = [_entry(each, unknown) for each in document.items]
        return pages.page(entries, cursor, document, lambda entry: entry.provider_id)

    return _read(answer, documents.STATEMENT, shape)


def keys(answer: ProviderAnswer, unknown: UnknownWord) -> Sequence[PixKey]:
    """Read every key; a key of unknown status is pending, so that nobody pays to it yet."""

    def shape(document: documents.Keys) -> Sequence[PixKey]:
        return [_key(each, unknown) for each in document.items]

    return _read(answer, documents.KEYS, shape)


def charge(answer: ProviderAnswer, now: datetime, unknown: UnknownWord) -> Charge:
    """Read a charge; one that the bank calls expired has expired by ``now`` at the latest."""
    return _read(answer, documents.CHARGE, lambda document: _charge(document, now, unknown))


def charge_payment(answer: ProviderAnswer) -> ChargePayment:
    """Read a charge with its latest payment; an anonymous charge names no payer."""
    return _read(answer, documents.PAID_CHARGE, _charge_payment)


def utc(instant: datetime | None) -> datetime | None:
    """Convert an instant to UTC; None stays None."""
    return None if instant is None else instant.astimezone(UTC)


def above_zero(amount: amounts.Amount) -> Money:
    """Read an amount that moved; raises ``ValueError`` for zero or less."""
    return _above_zero(amounts.read(amount))


def _read(
    answer: ProviderAnswer,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
) -> Value:
    """Read the answer to a read, which must be 200."""
    if answer.status != _OK:
        raise failure(answer)
    return read_document(answer, decoder, shape)


def _entry(document: documents.Movement, unknown: UnknownWord) -> Entry:
    kind = KINDS.get(document.kind)
    if kind is None:
        unknown()
    return Entry(
        provider_id=document.id,
        e2e_id=document.end_to_end_id or "",
        direction=_listed(DIRECTIONS, document.direction),
        is_pix=kind in PIX,
        value=above_zero(document.amount),
        description=cleaned_text(document.description),
        counterparty=_party(document.counterparty),
        created_at=document.created_at.astimezone(UTC),
        provider_key=document.external_id or "",
        kind=kind or MovementKind.OTHER,
    )


def _key(document: documents.Key, unknown: UnknownWord) -> PixKey:
    status = KEY_STATUSES.get(document.status)
    if status is None:
        unknown()
    return PixKey(
        provider_id=document.id,
        key=document.key,
        type=_listed(KEY_TYPES, document.type),
        status=status or PixKeyStatus.PENDING,
        created_at=utc(document.created_at),
    )


def _charge(document: documents.Charge, now: datetime, unknown: UnknownWord) -> Charge:
    status = CHARGE_STATUSES.get(document.status)
    if status is None:
        unknown()
    expires_at = utc(document.expires_at)
    if document.status == EXPIRED:
        expires_at = min(expires_at or now, now)
    return Charge(
        reference=document.reference,
        type=_listed(CHARGE_TYPES, document.type),
        key=document.key,
        value=_optional(document.amount),
        status=status or ChargeStatus.ACTIVE,
        emv=document.payload,
        reusable=document.reusable,
        payer=_payer(document.payer),
        receiver=_party(document.receiver),
        city=document.city or "",
        zip_code=document.zip_code or "",
        created_at=utc(document.created_at),
        expires_at=expires_at,
    )


def _charge_payment(document: documents.PaidCharge) -> ChargePayment:
    asked, paid = document.charge, document.payment
    value = _optional(asked.amount) if paid is None else above_zero(paid.amount)
    payer = asked.payer and ((paid and paid.payer) or asked.payer)
    return ChargePayment(
        reference=asked.reference,
        value=value,
        created_at=utc(asked.created_at),
        paid_at=None if paid is None else utc(paid.paid_at),
        e2e_id="" if paid is None else paid.end_to_end_id,
        payer=_payer(payer),
    )


def _optional(amount: amounts.OptionalAmount) -> Money | None:
    """Read an amount that may be open; raises ``ValueError`` for zero or less."""
    value = amounts.read_optional(amount)
    return None if value is None else _above_zero(value)


def _above_zero(value: Money) -> Money:
    if value.centavos <= 0:
        raise ValueError(Reason.WRONG_SHAPE)
    return value


def _listed(table: Mapping[str, Value], word: str) -> Value:
    """Look up a word for which no default is safe; raises ``ValueError``."""
    value = table.get(word)
    if value is None:
        raise ValueError(Reason.UNKNOWN_STATUS)
    return value


def _payer(person: documents.Person | None) -> Payer | None:
    if person is None:
        return None
    return Payer(
        name=cleaned_text(person.name),
        tax_number=person.tax_number or "",
        message=cleaned_text(person.message),
    )


def _party(person: documents.Person | None) -> Party:
    if person is None:
        return Party()
    return Party(name=cleaned_text(person.name), tax_number=person.tax_number or "")
