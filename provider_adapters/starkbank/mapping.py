"""
Reads the bank's answers; tables map its words to ours. Readers decide about unlisted words.

Sources, read on 22 November 2026: PyPI ``starkbank`` 2.36.0 and the tests of starkbank/sdk-python
(MIT), the pages below docs.starkbank.com/get-started, and where nothing else says it He4rt's
fake of the bank (third party). Each table names its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Final, TypeVar

from gateway.banks.port.charges import ChargeStatus, Party
from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.banks.port.providers import (
    Accepted,
    CredentialsRefused,
    NotFound,
    Page,
    ProviderError,
    Reason,
    Rejected,
    Settled,
)
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.money import Money, Sum
from gateway.core.strict import Malformed, cleaned_text, hidden_tax_number, tax_number
from provider_adapters.kit.answers import (
    Inside,
    ProviderAnswer,
    decode_body,
    known,
    listed,
    of_status,
    provider_id,
    reader,
    try_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import RefusedBefore, State
from provider_adapters.kit.paging import continued
from provider_adapters.kit.times import utc
from provider_adapters.starkbank import documents

ZONE: Final = "America/Sao_Paulo"
"""Of the days in ``after`` and ``before``: SDK tests allow three hours beyond the UTC day."""

KEY_TYPES: Final = {kind.value: kind for kind in PixKeyType}
"""Source: SDK, ``DictKey.type``."""

KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "created": PixKeyStatus.PENDING,
    "registered": PixKeyStatus.ACTIVE,
    "canceled": PixKeyStatus.CANCELED,
    "failed": PixKeyStatus.CANCELED,
}
"""Source: SDK, ``DictKey.status``."""

ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "checking",
    AccountType.SAVINGS: "savings",
    AccountType.SALARY: "salary",
    AccountType.PAYMENT: "payment",
}
"""Source: SDK, ``Transfer.account_type``."""

PAID: Final = "paid"
CANCELED: Final = "canceled"
EXPIRED: Final = "expired"
INVOICE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "created": ChargeStatus.ACTIVE,
    "overdue": ChargeStatus.ACTIVE,  # past its due date, and still to be paid
    PAID: ChargeStatus.PAID,
    CANCELED: ChargeStatus.CANCELED,
    EXPIRED: ChargeStatus.ACTIVE,  # ours is active, with an expiry in the past
}
"""Source: SDK, ``Invoice.status`` and ``invoice.update``; page "Invoice"."""

FAILURES: Final[Mapping[str, FailureCode]] = {
    "failed": FailureCode.OTHER,
    "canceled": FailureCode.REJECTED,
}
STATES: Final[Mapping[str, State]] = {
    "created": Accepted,
    "processing": Accepted,
    "success": Settled,
    **dict.fromkeys(FAILURES, Rejected),
}
"""
States of a transfer. Source: SDK, ``Transfer.status``, its test of cancelling; page "Transfer".

Why one failed is told in sentences of its log alone, without codes.
"""

SOURCES: Final[Mapping[str, MovementKind]] = {
    "transfer": MovementKind.PIX,
    "deposit": MovementKind.PIX,
    "invoice": MovementKind.PIX,
    "brcode-payment": MovementKind.PIX,
    "boleto": MovementKind.BOLETO,
    "boleto-payment": MovementKind.BOLETO,
    "charge": MovementKind.BOLETO,
    "utility-payment": MovementKind.OTHER,
    "tax-payment": MovementKind.OTHER,
    "darf-payment": MovementKind.OTHER,
    "payment-request": MovementKind.OTHER,
    "self": MovementKind.OTHER,
}
"""
What a movement comes from, by the first step of its ``source``.

Source: SDK, ``Transaction.source`` and the names of its resources. Transfers and deposits may be
TED as well; the movement does not say it, so kinds are not declared.
"""
CHARGEBACK: Final = "chargeback"
"""The last step of the source of money that a failed transfer gave back. Source: SDK, there."""

REFUSED_BEFORE: Final[RefusedBefore] = {
    (400, "invalidCredentials"): Reason.CREDENTIALS_REFUSED,
    (400, "invalidAccessId"): Reason.CREDENTIALS_REFUSED,
    (400, "invalidSignature"): Reason.CREDENTIALS_REFUSED,
    (401, "invalidAccessId"): Reason.CREDENTIALS_REFUSED,
    (401, "invalidSignature"): Reason.CREDENTIALS_REFUSED,
    (401, "expiredAccessTime"): Reason.CREDENTIALS_REFUSED,
}
"""
Answers before the bank looks at the order: the signature does not hold.

Sources: SDK for Elixir 2.6.2, ``StarkBank.Error`` (invalidCredentials); the bank's OpenAPI
document, by its codes, as 400; third party (He4rt's fake), as 401.
"""
CREDENTIAL_CODES: Final = frozenset(code for _, code in REFUSED_BEFORE)

REJECTIONS: Final[Mapping[str, FailureCode]] = {
    "insufficientFunds": FailureCode.INSUFFICIENT_FUNDS,
    "invalidAmount": FailureCode.REJECTED,
    "invalidJson": FailureCode.REJECTED,
    "invalidTaxId": FailureCode.REJECTED,
}
"""
The only codes of a 400 that prove that no money will move, if no transfer has our tag either.

Source: SDK, tests/api/testTransfer.py: the whole order is refused, and nothing created. Of
insufficientFunds: third party (api-evangelist/stark-bank, errors, 21 July 2026).
"""

NOT_FOUND: Final = frozenset(
    {
        "invalidBrcode",
        "invalidDeposit",
        "invalidDictKey",
        "invalidEvent",
        "invalidId",
        "invalidInvoice",
        "invalidPayment",
        "invalidPixKey",
        "invalidTransfer",
        "invalidWebhook",
    }
)
"""
Codes for an id that names nothing, with 400 or 404, where one thing is read by its id.

Source: SDK, its tests of an unknown id (400); third party (invalidDictKey and invalidId, 404).
"""

SUBSCRIPTIONS: Final[Mapping[str, CallbackKind]] = {
    "transfer": CallbackKind.PAYOUT,
    "deposit": CallbackKind.CHARGE,
    "invoice": CallbackKind.CHARGE,
}
"""What callbacks are asked for, and what each speaks of. Source: SDK, ``Webhook``, ``Event``."""

OUR_TAG: Final = "ref:"
"""Begins the tag that holds our key; the bank writes tags in lower case."""


Document = TypeVar("Document")
Value = TypeVar("Value")

_OK: Final = 200
_ABSENT: Final = frozenset({400, 404})
_REAIS: Final = "BRL"


def error_codes(answer: ProviderAnswer) -> Sequence[str]:
    """Return the bank's error codes; none where there are none to read."""
    document = try_document(answer, documents.REFUSAL)
    return () if document is None else tuple(error.code for error in document.inside)


def failure(answer: ProviderAnswer) -> ProviderError:
    """Return the error that a refusal means: by the bank's own code, else by its status."""
    if CREDENTIAL_CODES.isdisjoint(error_codes(answer)):
        return of_status(answer)
    return CredentialsRefused(Reason.CREDENTIALS_REFUSED, http_status=answer.status)


def failure_of_one(answer: ProviderAnswer) -> ProviderError:
    """Return the error that a refusal means where one thing was named by its id."""
    codes = set(error_codes(answer))
    if answer.status in _ABSENT and codes and codes <= NOT_FOUND:
        return NotFound(Reason.NOT_FOUND, http_status=answer.status)
    return failure(answer)


read: Final = reader(failure)
read_one: Final = reader(failure_of_one)
"""Reads the answer about one thing named by its id; NotFound when it names nothing."""


def reached(answer: ProviderAnswer) -> None:
    """Accept any answer in the bank's own shape: the bank was reached."""
    if not error_codes(answer):
        read(answer, documents.PUBLIC_KEYS, lambda document: document.inside)


def public_keys(body: bytes) -> Sequence[tuple[str, str]]:
    """Read the keys that callbacks are signed with; the bank gives them no names."""
    return [("", key.content) for key in decode_body(body, documents.PUBLIC_KEYS).inside]


def balance(answer: ProviderAnswer) -> Balance:
    """Read a balance; blocked money is not reported."""
    return read(answer, documents.BALANCES, _balance)


def statement(answer: ProviderAnswer, cursor: str | None) -> Page[Entry]:
    """Read a page of the statement; an entry from an unknown source does not count as Pix."""

    def shape(document: Inside[list[documents.Movement]]) -> Page[Entry]:
        entries = tuple(_entry(each, answer.unknown_word) for each in document.inside)
        return continued(entries, cursor, document.cursor)

    return read(answer, documents.MOVEMENTS, shape)


def keys(answer: ProviderAnswer, cursor: str | None) -> Page[PixKey]:
    """Read keys; one of unknown status is pending, so that no payer uses it yet."""

    def shape(document: Inside[list[documents.Key]]) -> Page[PixKey]:
        found = tuple(_key(each, answer.unknown_word) for each in document.inside)
        return continued(found, cursor, document.cursor)

    return read(answer, documents.KEYS, shape)


def directory_entry(answer: ProviderAnswer) -> documents.DirectoryEntry:
    """Read where a key leads."""
    return read_one(answer, documents.FOUND, lambda document: document.inside)


def owner(answer: ProviderAnswer, asked: str) -> KeyOwner:
    """Read the owner of a key; branch and account are encrypted, and are not shown."""

    def shape(document: Inside[documents.DirectoryEntry]) -> KeyOwner:
        entry = document.inside
        kind = listed(KEY_TYPES, entry.type)
        if bare(entry.id) != bare(asked):
            raise ValueError(Reason.WRONG_SHAPE)
        return KeyOwner(
            key=asked,
            type=kind,
            name=cleaned_text(entry.name),
            tax_number=hidden_tax_number(bare(entry.tax_id)),
            ispb=entry.ispb,
            bank_name=cleaned_text(entry.bank_name),
        )

    return read_one(answer, documents.FOUND, shape)


def bare(key: str) -> str:
    """Write a tax number without punctuation; other texts and masked numbers unchanged."""
    try:
        return tax_number(key)
    except Malformed:
        return key


def our_key(tags: Sequence[str]) -> str:
    """Return the key of ours that a tag holds; empty where none does."""
    found = [tag.removeprefix(OUR_TAG) for tag in tags if tag.startswith(OUR_TAG)]
    return found[0] if len(found) == 1 else ""


def _balance(document: Inside[list[documents.Balance]]) -> Balance:
    (held,) = document.inside  # raises ValueError for none, or several
    if held.currency != _REAIS:
        raise ValueError(Reason.WRONG_SHAPE)
    return Balance(balance=Sum(held.amount), blocked=None, updated_at=utc(held.updated))


def _entry(moved: documents.Movement, unknown: UnknownWord) -> Entry:
    first, _, rest = moved.source.partition("/")
    kind = SOURCES.get(first)
    if kind is None:
        unknown()
    is_pix = kind is MovementKind.PIX
    if is_pix and rest.endswith(CHARGEBACK):
        kind = MovementKind.PIX_RETURN
    return Entry(
        provider_id=provider_id(moved.id),
        e2e_id="",
        direction=Direction.DEBIT if moved.amount < 0 else Direction.CREDIT,
        is_pix=is_pix,
        value=Money(abs(moved.amount)),
        description=cleaned_text(moved.description),
        counterparty=Party(),
        created_at=moved.created.astimezone(UTC),
        provider_key=our_key(moved.tags),
        kind=kind or MovementKind.OTHER,
    )


def _key(key: documents.Key, unknown: UnknownWord) -> PixKey:
    status = known(KEY_STATUSES, key.status, PixKeyStatus.PENDING, unknown)
    return PixKey(
        provider_id=key.id,
        key=bare(key.id),
        type=listed(KEY_TYPES, key.type),
        status=status,
        created_at=utc(key.created),
    )
