"""
Reads the bank's answers; tables map its words to ours and list the definite answers.

Sources, each read on 22 November 2026: SDK is asaasdev/asaas-api-sdk-java 0641522 of 22 July
2025, GUIDE the pages of docs.asaas.com named. What an unlisted word means is decided where a
table is used, and is the careful choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from gateway.banks.port.charges import ChargeStatus, Party, Payer
from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind, RegisteredCallback
from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    NotFound,
    Page,
    Reason,
    Rejected,
    Settled,
)
from gateway.banks.port.refunds import IncomingPayment
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.money import Money
from gateway.core.strict import cleaned_text
from gateway.core.windows import Window
from provider_adapters.asaas import documents
from provider_adapters.kit import money, times
from provider_adapters.kit.answers import (
    Inside,
    ProviderAnswer,
    is_e2e_id,
    known,
    listed,
    of_status,
    provider_id,
    read_document,
    try_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import RefusedBefore, State
from provider_adapters.kit.paging import skipped, unrepeated, within
from provider_adapters.kit.payers import payer_of

KEY_TYPES: Final = {kind.value.upper(): kind for kind in PixKeyType}
"""SDK, TransferSaveRequestPixAddressKeyType."""

KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "AWAITING_ACTIVATION": PixKeyStatus.PENDING,
    "ACTIVE": PixKeyStatus.ACTIVE,
    "AWAITING_DELETION": PixKeyStatus.CANCELED,
    "AWAITING_ACCOUNT_DELETION": PixKeyStatus.CANCELED,
    "DELETED": PixKeyStatus.CANCELED,
    "ERROR": PixKeyStatus.PENDING,
}
"""SDK, PixAddressKeyGetResponsePixAddressKeyStatus. Nobody pays to a pending key."""

CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "PENDING": ChargeStatus.ACTIVE,
    "OVERDUE": ChargeStatus.ACTIVE,  # payable until the QR code ends, months later
    "AWAITING_RISK_ANALYSIS": ChargeStatus.ACTIVE,
    "DUNNING_REQUESTED": ChargeStatus.ACTIVE,
    "CONFIRMED": ChargeStatus.PAID,
    "RECEIVED": ChargeStatus.PAID,
    "RECEIVED_IN_CASH": ChargeStatus.PAID,
    "DUNNING_RECEIVED": ChargeStatus.PAID,
    "REFUNDED": ChargeStatus.PAID,
    "REFUND_REQUESTED": ChargeStatus.PAID,
    "REFUND_IN_PROGRESS": ChargeStatus.PAID,
    "CHARGEBACK_REQUESTED": ChargeStatus.PAID,
    "CHARGEBACK_DISPUTE": ChargeStatus.PAID,
    "AWAITING_CHARGEBACK_REVERSAL": ChargeStatus.PAID,
}
"""SDK, PaymentGetResponsePaymentStatus; one that was removed says ``deleted`` beside it."""

ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "CONTA_CORRENTE",
    AccountType.SAVINGS: "CONTA_POUPANCA",
}
"""SDK, TransferBankAccountSaveRequestBankAccountType: it has no other."""

KINDS: Final[Mapping[str, MovementKind]] = {
    "PIX_TRANSACTION_CREDIT": MovementKind.PIX,
    "PIX_TRANSACTION_DEBIT": MovementKind.PIX,
    "PIX_TRANSACTION_CREDIT_REFUND": MovementKind.PIX_RETURN,
    "PIX_TRANSACTION_CREDIT_REFUND_CANCELLATION": MovementKind.PIX_RETURN,
    "PIX_TRANSACTION_DEBIT_REFUND": MovementKind.PIX_RETURN,
    "PIX_TRANSACTION_CREDIT_FEE": MovementKind.FEE,
    "PIX_TRANSACTION_DEBIT_FEE": MovementKind.FEE,
    "PAYMENT_FEE": MovementKind.FEE,
    "PAYMENT_FEE_REVERSAL": MovementKind.FEE,
    "PAYMENT_MESSAGING_NOTIFICATION_FEE": MovementKind.FEE,
    "PAYMENT_SMS_NOTIFICATION_FEE": MovementKind.FEE,
    "INSTANT_TEXT_MESSAGE_FEE": MovementKind.FEE,
    "PHONE_CALL_NOTIFICATION_FEE": MovementKind.FEE,
    "TRANSFER_FEE": MovementKind.FEE,
    "BILL_PAYMENT_FEE": MovementKind.FEE,
    "ACCOUNT_INACTIVITY_FEE": MovementKind.FEE,
    "CHARGED_FEE_REFUND": MovementKind.FEE,
    "TRANSFER": MovementKind.TED,
    "TRANSFER_REVERSAL": MovementKind.TED,
    "BILL_PAYMENT": MovementKind.BOLETO,
    "BILL_PAYMENT_CANCELLED": MovementKind.BOLETO,
    "BILL_PAYMENT_REFUNDED": MovementKind.BOLETO,
    "PAYMENT_REVERSAL": MovementKind.OTHER,
    "REVERSAL": MovementKind.OTHER,
    "CREDIT": MovementKind.OTHER,
    "DEBIT": MovementKind.OTHER,
    "DEBIT_REVERSAL": MovementKind.OTHER,
    "INTERNAL_TRANSFER_CREDIT": MovementKind.OTHER,
    "INTERNAL_TRANSFER_DEBIT": MovementKind.OTHER,
    "INTERNAL_TRANSFER_REVERSAL": MovementKind.OTHER,
    "BACEN_JUDICIAL_LOCK": MovementKind.OTHER,
    "BACEN_JUDICIAL_UNLOCK": MovementKind.OTHER,
    "BACEN_JUDICIAL_TRANSFER": MovementKind.OTHER,
}
"""
SDK, FinancialTransactionGetResponseFinancialTransactionType, which has a hundred more.

They are about cards, advances and services: they count as unlisted, and are not Pix.
"""
PIX_KINDS: Final = frozenset({MovementKind.PIX, MovementKind.PIX_RETURN})
CHARGE_RECEIVED: Final = "PAYMENT_RECEIVED"
"""A paid charge: by Pix, boleto or card. Which, the charge says and the movement does not."""

DONE: Final = "DONE"
FAILURES: Final[Mapping[str, FailureCode]] = {
    "FAILED": FailureCode.OTHER,  # the reason is free text
    "CANCELLED": FailureCode.REJECTED,
}
STATES: Final[Mapping[str, State]] = {
    "PENDING": Accepted,
    "BANK_PROCESSING": Accepted,
    "BLOCKED": Accepted,
    DONE: Settled,
    **dict.fromkeys(FAILURES, Rejected),
}
"""
What a transfer can be: SDK, TransferGetResponseTransferStatus; GUIDE transfer-events.

BLOCKED is told by callbacks alone; a blocked transfer may go on.
"""

REJECTIONS: Final[Mapping[tuple[int, str], FailureCode]] = {
    (400, "invalid_value"): FailureCode.OTHER,
}
"""
The only answers that prove that no money moved or will move. GUIDE http-response-codes.

No source lists the codes of a refused transfer, for a balance that is too low neither. 409 is
not among them: "identical to another transfer made in the last 15 minutes" (GUIDE transfers-1)
may be this very order, sent again by somebody on the way.
"""
NO_CALLS_LEFT: Final = "RateLimit-Remaining:0"
"""Stands for the header of that name; a proxy's 429 does not have it."""
REFUSED_BEFORE: Final[RefusedBefore] = {
    (401, "access_token_not_found"): Reason.CREDENTIALS_REFUSED,
    (401, "invalid_access_token"): Reason.CREDENTIALS_REFUSED,
    (401, "invalid_access_token_format"): Reason.CREDENTIALS_REFUSED,
    (401, "invalid_environment"): Reason.CREDENTIALS_REFUSED,
    (429, NO_CALLS_LEFT): Reason.RATE_LIMITED,
}
"""
Answers before the bank looks at the order.

GUIDE authentication, since 16 July 2025: "your request could not be authenticated"; GUIDE
api-limits for the limit. The 403 of an address that is not allowed has no code and is not here.
"""

EVENTS: Final[Mapping[str, CallbackKind]] = {
    "TRANSFER_CREATED": CallbackKind.PAYOUT,
    "TRANSFER_PENDING": CallbackKind.PAYOUT,
    "TRANSFER_IN_BANK_PROCESSING": CallbackKind.PAYOUT,
    "TRANSFER_BLOCKED": CallbackKind.PAYOUT,
    "TRANSFER_DONE": CallbackKind.PAYOUT,
    "TRANSFER_FAILED": CallbackKind.PAYOUT,
    "TRANSFER_CANCELLED": CallbackKind.PAYOUT,
    "PAYMENT_CONFIRMED": CallbackKind.CHARGE,
    "PAYMENT_RECEIVED": CallbackKind.CHARGE,
    "PAYMENT_DELETED": CallbackKind.CHARGE,
    "PAYMENT_REFUNDED": CallbackKind.CHARGE,
}
"""The events that are asked for; SDK, WebhookConfigSaveRequestWebhookEvent."""


ZONE: Final = ZoneInfo("America/Sao_Paulo")
"""
Of the bank's dates and times, which name none.

Not stated by the bank; it is the official time of its seat and of the central bank.
"""
_NULL: Final = b"null"
_DATE_LENGTH: Final = len("2026-11-22")
_NATIONAL_PHONE: Final = (10, 11)
"""Digits of area code and number."""
# Looking a member up by its name costs Python 3.11 a call each time.
_OTHER: Final = MovementKind.OTHER
Value = TypeVar("Value")
Movements = Sequence[tuple[documents.Movement, Entry]]
"""Rows of a statement, each with what was read of it."""


def error_code(answer: ProviderAnswer) -> str:
    """Return the bank's first error code; empty when there is none to read."""
    document = try_document(answer, documents.ERRORS)
    return document.inside[0].code if document is not None and document.inside else ""


def reached(answer: ProviderAnswer) -> None:
    """Accept any refusal in the bank's own shape: the bank was reached."""
    if not error_code(answer):
        raise of_status(answer)


def balance(answer: ProviderAnswer) -> Balance:
    """Read a balance; the bank reports neither blocked money nor a time."""

    def shape(document: Inside[money.JsonNumber]) -> Balance:
        value = money.sum_from_json(document.inside)
        return Balance(balance=value, blocked=None, updated_at=None)

    return read_document(answer, documents.BALANCE, shape)


def movements(answer: ProviderAnswer) -> tuple[Movements, bool | None]:
    """
    Read a page of the statement, and whether there is more.

    A charge does not count as Pix yet: which of them do is asked apart.
    """

    def shape(document: documents.Listing[documents.Movement]) -> tuple[Movements, bool | None]:
        rows = [(row, entry(row, answer.unknown_word)) for row in document.data]
        return rows, document.has_more

    return read_document(answer, documents.MOVEMENTS, shape)


def charge_days(rows: Movements) -> Mapping[str, date]:
    """Return the days on which charges were received, by the id of the charge."""
    return {
        row.payment_id: _day(row.date)
        for row, _ in rows
        if row.type == CHARGE_RECEIVED and row.payment_id
    }


def entries(rows: Movements, pix_charges: Collection[str]) -> Sequence[Entry]:
    """Return the movements of a page; a charge that was paid by Pix counts as Pix."""
    return [
        msgspec.structs.replace(read, is_pix=True, kind=MovementKind.PIX)
        if row.type == CHARGE_RECEIVED and row.payment_id in pix_charges
        else read
        for row, read in rows
    ]


def entry(row: documents.Movement, unknown: UnknownWord) -> Entry:
    """
    Read a movement; it is at the first instant of its day, which is all that the bank reports.

    One of an unlisted kind does not count as Pix.

    Raises:
        ValueError: The amount or the date is none.
    """
    value, kind = money.from_json(row.value), KINDS.get(row.type)
    if kind is None and row.type != CHARGE_RECEIVED:
        unknown()  # a charge is what it was paid by, which is asked apart
    return Entry(
        provider_id=provider_id(str(row.id)),
        e2e_id="",
        direction=Direction.DEBIT if value.centavos < 0 else Direction.CREDIT,
        is_pix=kind in PIX_KINDS,
        value=Money(abs(value.centavos)),
        description=cleaned_text(row.description),
        counterparty=Party(),
        created_at=instant(row.date),
        kind=kind or _OTHER,
    )


def pix_charges(answer: ProviderAnswer) -> tuple[Mapping[str, date], bool]:
    """Read a page of the charges that were paid by Pix, and whether there are more."""

    def shape(document: documents.Listing[documents.Payment]) -> tuple[Mapping[str, date], bool]:
        paid = {row.id: _day(row.payment_date or "") for row in document.data}
        return paid, bool(paid) and document.has_more is not False

    return read_document(answer, documents.PAYMENTS, shape)


def keys(answer: ProviderAnswer, cursor: str | None) -> Page[PixKey]:
    """Read a page of keys."""

    def shape(document: documents.Listing[documents.Key]) -> Page[PixKey]:
        rows = [_key(row, answer.unknown_word) for row in document.data]
        return skipped(rows, cursor, more=document.has_more)

    return read_document(answer, documents.KEYS, shape)


def changed_key(answer: ProviderAnswer) -> PixKey:
    """Read a key that was created or cancelled."""
    return read_document(answer, documents.KEY, lambda row: _key(row, answer.unknown_word))


def removed(answer: ProviderAnswer) -> None:
    """Read that a record was removed; raises ``BadReply`` when it was not."""

    def shape(document: documents.Removed) -> None:
        if not document.deleted:
            raise ValueError(Reason.WRONG_SHAPE)

    read_document(answer, documents.REMOVED, shape)


def received_payment(answer: ProviderAnswer, e2e_id: str) -> IncomingPayment:
    """Find a payment received in the answer to a search; raises ``NotFound`` without one."""

    def shape(document: documents.Listing[documents.PixTransaction]) -> IncomingPayment:
        for row in document.data:
            if row.end_to_end_identifier == e2e_id and _came_in(row):
                return _received(row)
        raise NotFound(Reason.NOT_FOUND, http_status=answer.status)

    return read_document(answer, documents.PIX_TRANSACTIONS, shape)


def received_payments(
    answer: ProviderAnswer, window: Window, cursor: str | None
) -> Page[IncomingPayment]:
    """
    Read a page of payments received, those of the window alone.

    The list cannot filter by date. It is walked to its end, unless the page itself shows that it
    goes from new to old and has left the window.
    """

    def shape(
        document: documents.Listing[documents.PixTransaction],
    ) -> Page[IncomingPayment]:
        listed = skipped(document.data, cursor, more=document.has_more)
        listed = unrepeated(listed, cursor, lambda row: row.id)
        moments = [_moment(row) for row in document.data]
        is_past = _newest_first(moments) and moments[-1] < window.start
        items = [_received(row) for row in listed.items if _came_in(row)]
        page = Page(items=items, next_cursor=None if is_past else listed.next_cursor)
        return within(page, window, lambda payment: payment.paid_at)

    return read_document(answer, documents.PIX_TRANSACTIONS, shape)


def webhook(answer: ProviderAnswer) -> RegisteredCallback:
    """Read an address that was registered."""
    return read_document(answer, documents.WEBHOOK, _webhook)


def webhooks(answer: ProviderAnswer, cursor: str | None) -> Page[RegisteredCallback]:
    """Read a page of addresses."""

    def shape(document: documents.Listing[documents.Webhook]) -> Page[RegisteredCallback]:
        return skipped([_webhook(row) for row in document.data], cursor, more=document.has_more)

    return read_document(answer, documents.WEBHOOKS, shape)


def instant(text: str) -> datetime:
    """Read a date, which is its first instant, or a time; raises ``ValueError`` for neither."""
    return times.instant(text, ZONE)


def instant_or_none(text: str | None) -> datetime | None:
    """Read a date or a time; none stays None."""
    return instant(text) if text else None


def instant_with_time(text: str | None) -> datetime | None:
    """Read a time; None for a bare date, which is too coarse."""
    return instant(text) if text and len(text) > _DATE_LENGTH else None


def composed(make: Callable[[], Value]) -> Value:
    """Build a value of several answers; ``BadReply`` where ``make`` raises ``ValueError``."""
    try:
        return make()
    except (ValueError, ArithmeticError) as problem:
        raise BadReply(Reason.WRONG_SHAPE) from problem


def _day(text: str) -> date:
    return times.local_day(text, ZONE)


def _key(row: documents.Key, unknown: UnknownWord) -> PixKey:
    """Read a key; one of unknown status is pending, so that it is not paid to yet."""
    kind = listed(KEY_TYPES, row.type)
    key = row.key or ""
    if kind is PixKeyType.PHONE and key.isdigit() and len(key) in _NATIONAL_PHONE:
        key = f"+55{key}"
    return PixKey(
        provider_id=provider_id(row.id),
        key=key,
        type=kind,
        status=known(KEY_STATUSES, row.status, PixKeyStatus.PENDING, unknown),
        created_at=instant_or_none(row.date_created),
    )


def payer(person: documents.Party | documents.Customer) -> Payer | None:
    """Read who paid or is to pay."""
    return payer_of(person.name, person.cpf_cnpj)


def _came_in(row: documents.PixTransaction) -> bool:
    return row.type == "CREDIT" and row.status == DONE


def _moment(row: documents.PixTransaction) -> datetime:
    """Return the time of a Pix; raises ``ValueError`` where unreported."""
    return instant(row.effective_date or row.date_created or "")


def _newest_first(moments: Sequence[datetime]) -> bool:
    """Return whether a page itself shows that its list is ordered newest first."""
    falls = all(later >= earlier for later, earlier in pairwise(moments))
    return falls and len(moments) > 1 and moments[0] > moments[-1]


def _given_back(reais: money.JsonNumber) -> Money:
    """Read the refunded amount; ``null`` is zero."""
    return Money(0) if bytes(reais) == _NULL else money.from_json(reais)


def _received(row: documents.PixTransaction) -> IncomingPayment:
    e2e_id = row.end_to_end_identifier or ""
    if not is_e2e_id(e2e_id):
        raise ValueError(Reason.E2E_ID_MALFORMED)
    return IncomingPayment(
        reference=cleaned_text(row.external_reference),
        e2e_id=e2e_id,
        provider_id=provider_id(row.id),
        value=money.above_zero(row.value),
        refunded=_given_back(row.refunded_value),
        paid_at=_moment(row),
        payer=payer(row.external_account) if row.external_account else None,
    )


def _webhook(document: documents.Webhook) -> RegisteredCallback:
    return RegisteredCallback(id=provider_id(document.id), url=document.url)
