"""
Reads Woovi's answers; tables map its words to ours. Readers decide about unlisted words.

Sources, read on 22 November 2026:

- D: Open-Pix/openpix-developers, ``src/swaggers/openpix.json`` of f416b4d (2026-05-11), OpenAPI
  3.0.3; the pages named below are of 76584f0 (2026-06-30).
- W: woovibr/woovi-developers, pages of bb0dddf (2026-08-20).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from gateway.banks.port.charges import Charge, ChargeStatus, ChargeType, Party, Payer
from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.banks.port.providers import (
    NOT_ALLOWED,
    Accepted,
    CredentialsRefused,
    NotFound,
    Page,
    ProviderError,
    RateLimited,
    Reason,
    Refused,
    Rejected,
    Settled,
)
from gateway.banks.port.refunds import RefundStatus
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.money import Money, Sum
from gateway.core.strict import cleaned_text, hidden_tax_number
from gateway.core.windows import Window
from provider_adapters.kit import banks, brcode, money, paging
from provider_adapters.kit.answers import (
    Errors,
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
from provider_adapters.kit.outcomes import RefusedBefore, State
from provider_adapters.kit.payers import payer_of
from provider_adapters.kit.times import utc
from provider_adapters.woovi import documents

KEY_TYPES: Final[Mapping[str, PixKeyType]] = {
    **{kind.value.upper(): kind for kind in PixKeyType},
    "RANDOM": PixKeyType.EVP,
}
"""D ``PixKey``; a payout says RANDOM where a key says EVP (D ``PaymentCreatePayload``)."""
PAYOUT_KEY_TYPES: Final = {kind: word for word, kind in KEY_TYPES.items()}
NEW_KEY_TYPES: Final[Mapping[PixKeyType, str]] = {PixKeyType.CNPJ: "CNPJ", PixKeyType.EVP: "EVP"}
"""D ``PixKeyCreate``; the others need a permission that support gives (D pix-keys page)."""
ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "CACC",
    AccountType.SAVINGS: "SVGS",
    AccountType.SALARY: "SLRY",
    AccountType.PAYMENT: "TRAN",
}
"""D docs/flows/validate-bank-data-manual.md."""
EXPIRED: Final = "EXPIRED"
CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "ACTIVE": ChargeStatus.ACTIVE,
    "COMPLETED": ChargeStatus.PAID,
    EXPIRED: ChargeStatus.ACTIVE,  # ours is active, with an expiry in the past
}
"""D ``Charge``. What a deleted charge answers is stated nowhere."""
CHARGE_TYPES: Final = frozenset({"DYNAMIC", "OVERDUE", "BOLETO"})
"""D ``Charge``: each is one charge that can be paid once."""
DIRECTIONS: Final = {each.value.upper(): each for each in Direction}
"""D, statement: CREDIT is its example; W docs/baas/baas-api-master.md."""
REFUND_STATUSES: Final[Mapping[str, RefundStatus]] = {
    "IN_PROCESSING": RefundStatus.PROCESSING,
    "REFUNDED": RefundStatus.PAID,
    "CONFIRMED": RefundStatus.PAID,
    "NOT_ACCOMPLISHED": RefundStatus.FAILED,
    "REJECTED": RefundStatus.FAILED,
}
"""D ``Refund``, and ``ChargeRefund`` for a refund of a charge."""
STATES: Final[Mapping[str, State]] = {
    "CREATED": Accepted,
    "APPROVED": Accepted,
    "PROCESSING": Accepted,
    "CONFIRMED": Settled,
    "FAILED": Rejected,
    "DENIED": Rejected,
    "REJECTED": Rejected,
}
"""
D ``Payment`` has CREATED, FAILED and DENIED; its examples and W payment-how-to-auto-approve.md
have APPROVED, W docs/payment/payment-idempotency.md has REJECTED.
"""
TRANSACTION_KINDS: Final = frozenset(
    {"PAYMENT", "WITHDRAW", "REFUND", "FEE", "INTERNAL_TRANSFER", "BALANCE_BLOCK",
     "BALANCE_UNBLOCK", "REVERSAL"}
)  # fmt: skip
"""D, filter ``type`` of the transactions."""
RECEIVED: Final = "PAYMENT"
"""The kind of a transaction that came in."""
WHOLLY_REFUNDED: Final = "REFUNDED"
PARTLY_REFUNDED: Final = "PARTIAL_REFUND"

SAID: Final[Mapping[str, str]] = {
    "Já existe um pagamento com o correlationID fornecido": "DUPLICATE",
    "You do not have enough balance to make this payment": "NOT_ENOUGH_BALANCE",
    "Você não possui saldo o suficiente para realizar esse pagamento": "NOT_ENOUGH_BALANCE",
    "appID inválido": "INVALID_APP_ID",
    "You tried to consult many Pix keys that do not exist.": "TOO_MANY_REQUESTS",
    "Your account does not have the permission to use this endpoint": "NO_PERMISSION",
    "Charge not found": "NOT_FOUND",
    "Payment not found": "NOT_FOUND",
    "Refund not found": "NOT_FOUND",
    "Transaction not found": "NOT_FOUND",
}
"""
The bank's sentences, each under a short code of ours: most refusals are a 400 with a text alone.

In this order from W docs/payment: payment-idempotency.md, payment-how-to-auto-approve.md,
payment-how-to-use-api-to-approve-a-payment.md; W docs/apis/api-getting-started.md; W
docs/payment/pix-key-token-bucket.md (two). Of those for absent things "Transaction not found" is
in W docs/baas/baas-api-master.md and "Charge not found" in W docs/invoice/how-to-issue-
invoice-by-api.md; the other two have their form. An absent payout proves nothing (there is no
``absent_after``), so that a wrong one costs a review and no money.
"""
REFUSED_BEFORE: Final[RefusedBefore] = {
    (401, "INVALID_APP_ID"): Reason.CREDENTIALS_REFUSED,
    (429, "TOO_MANY_REQUESTS"): Reason.RATE_LIMITED,
}
"""
What refuses an order before it is looked at.

W docs/apis/api-getting-started.md; W docs/payment/pix-key-token-bucket.md: "a consulta é recusada
sem nem chegar ao DICT". A repeat comes under the same correlationID, which pays once.
"""
DUPLICATES: Final = frozenset({(400, "DUPLICATE")})
"""W docs/payment/payment-idempotency.md: "a API rejeita a segunda chamada"."""
REJECTIONS: Final[Mapping[tuple[int, str], FailureCode]] = {
    (400, "NOT_ENOUGH_BALANCE"): FailureCode.INSUFFICIENT_FUNDS,
}
"""The only refusal of a payout that is written down: W payment-how-to-auto-approve.md."""
ERRORS: Final[Errors] = {
    (400, "NOT_FOUND"): (NotFound, Reason.NOT_FOUND),
    (401, "INVALID_APP_ID"): (CredentialsRefused, Reason.CREDENTIALS_REFUSED),
    (403, "NO_PERMISSION"): (Refused, NOT_ALLOWED),
    (404, "PIX_KEY_INFO_NOT_FOUND"): (NotFound, Reason.NOT_FOUND),
    (429, "TOO_MANY_REQUESTS"): (RateLimited, Reason.RATE_LIMITED),
}
"""What refusals of reads and changes mean; the status alone decides all others."""

FAILURES: Final[Mapping[str, FailureCode]] = {
    "AC03": FailureCode.ACCOUNT_INVALID,
    "AC06": FailureCode.ACCOUNT_INVALID,
    "AC07": FailureCode.ACCOUNT_INVALID,
    "AC14": FailureCode.ACCOUNT_INVALID,
    "ACCOUNT_NOT_FOUND": FailureCode.ACCOUNT_INVALID,
    "BE01": FailureCode.OWNER_MISMATCH,
    "CH11": FailureCode.OWNER_MISMATCH,
    "INVALID_PIX_KEY": FailureCode.KEY_NOT_FOUND,
    "PIX_KEY_INFO_NOT_FOUND": FailureCode.KEY_NOT_FOUND,
    "AM02": FailureCode.LIMIT_EXCEEDED,
    "ACCOUNT_LIMIT_ERROR": FailureCode.LIMIT_EXCEEDED,
    "REACH_TRANSFER_LIMIT": FailureCode.LIMIT_EXCEEDED,
    "NOT_ENOUGH_BALANCE": FailureCode.INSUFFICIENT_FUNDS,
    "AG03": FailureCode.REJECTED,
    "DS04": FailureCode.REJECTED,
    "FRAD": FailureCode.REJECTED,
    "RR04": FailureCode.REJECTED,
}
"""
Why a payout failed; any other code is OTHER.

D docs/flows/error-codes-payment.md, docs/flows/sandbox-error-simulation.md and
docs/payment/payment-failed-errors.md. AM04 is a lack of the bank's own funds, not of ours.
"""
EVENTS: Final[Mapping[str, CallbackKind]] = {
    "OPENPIX:MOVEMENT_CONFIRMED": CallbackKind.PAYOUT,
    "OPENPIX:MOVEMENT_FAILED": CallbackKind.PAYOUT,
    "OPENPIX:MOVEMENT_REMOVED": CallbackKind.PAYOUT,
    "OPENPIX:CHARGE_COMPLETED": CallbackKind.CHARGE,
    "OPENPIX:CHARGE_EXPIRED": CallbackKind.CHARGE,
    "PIX_TRANSACTION_REFUND_SENT_CONFIRMED": CallbackKind.REFUND,
    "PIX_TRANSACTION_REFUND_SENT_REJECTED": CallbackKind.REFUND,
}
"""What callbacks speak of: D ``WebhookEventEnum``; any other event is of no known kind."""
REGISTERED: Final = (
    "OPENPIX:MOVEMENT_CONFIRMED",
    "OPENPIX:MOVEMENT_FAILED",
    "OPENPIX:MOVEMENT_REMOVED",
    "OPENPIX:CHARGE_COMPLETED",
)
"""
What an address is registered for: the bank wants one registration for each event.

Those about refunds name none of our keys, and a charge's expiry is known without being told.
"""


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
    return listed_error(answer, error_code(answer), ERRORS)


def error_code(answer: ProviderAnswer) -> str:
    """Return a refusal's code, the bank's or ours for its sentence; empty when it is none."""
    document = try_document(answer, documents.REFUSAL)
    if document is None:
        return ""
    text = document.error or next((each.message for each in document.errors), "")
    if document.code:
        return document.code
    return SAID.get(text, _NO_CODE) if text else ""


read: Final = reader(failure)


def reached(answer: ProviderAnswer) -> None:
    """Accept the bank's list of keys: the bank was reached."""
    read(answer, documents.PUBLIC_KEYS, lambda document: document.inside)


def balance(answer: ProviderAnswer, asked: str) -> Balance:
    """Read the balance of the account; the bank reports no time."""

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
    """Keep items inside the window, and sort them: the bank promises no order."""
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
    """Read that a key was given up; a 404 in the bank's own shape means that there is none."""
    if answer.status == _NOT_FOUND and error_code(answer):
        raise NotFound(Reason.NOT_FOUND, http_status=answer.status)
    if answer.status != DELETED:
        raise failure(answer)
    return replace(key, status=PixKeyStatus.CANCELED)


def owner(answer: ProviderAnswer) -> KeyOwner:
    """Read the owner of a key; a person's tax number is masked, even if the bank sent all of it."""

    def shape(document: documents.KeyCheck) -> KeyOwner:
        found = document.owner
        bank = banks.by_ispb(found.psp or "")
        return KeyOwner(
            key=document.pix_key,
            type=listed(KEY_TYPES, document.type),
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

    The bank reports neither the kind of movement nor an end-to-end id.
    """
    direction = listed(DIRECTIONS, line.type)
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
        type=listed(KEY_TYPES, kind),
        status=PixKeyStatus.ACTIVE,
        created_at=None,
    )


def _charge(document: documents.Charge, now: datetime, unknown: UnknownWord) -> Charge:
    status = CHARGE_STATUSES.get(document.status)
    if status is None or document.type not in {None, *CHARGE_TYPES}:
        unknown()
    expires_at = utc(document.expires_date)
    if document.status == EXPIRED:
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


def payer(raw: msgspec.Raw, message: str | None) -> Payer | None:
    """Read the payer; None when unnamed."""
    person = try_body(raw, documents.CUSTOMER)
    if person is None:
        return None
    return payer_of(person.name, documents.tax_number_of(person.tax_id), message)


def public_keys(body: bytes) -> Sequence[tuple[str, str]]:
    """Read the keys that callbacks are signed with: id and PEM of each."""
    return [(key.id, key.key) for key in decode_body(body, documents.PUBLIC_KEYS).inside]
