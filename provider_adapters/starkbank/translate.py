"""
The bank's answers as our values; no I/O.

Each function raises a ``ProviderError`` for an answer that is not what was asked for: by code
and status for a refusal, ``BadReply`` for what cannot be read. Charges and what pays them, and
payouts, have modules of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Final, TypeVar

from gateway.banks.port.charges import Party
from gateway.banks.port.pix_keys import KeyOwner, PixKey, PixKeyStatus
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import CredentialsRefused, NotFound, Page, ProviderError
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
from provider_adapters.kit.paging import continued
from provider_adapters.kit.times import utc
from provider_adapters.starkbank import documents, words
from provider_adapters.starkbank.requests import OUR_TAG

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
    if words.CREDENTIAL_CODES.isdisjoint(error_codes(answer)):
        return of_status(answer)
    return CredentialsRefused(Reason.CREDENTIALS_REFUSED, http_status=answer.status)


def failure_of_one(answer: ProviderAnswer) -> ProviderError:
    """Return the error that a refusal means where one thing was named by its id."""
    codes = set(error_codes(answer))
    if answer.status in _ABSENT and codes and codes <= words.NOT_FOUND:
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
    """Read a balance; what is blocked is not told."""
    return read(answer, documents.BALANCES, _balance)


def statement(answer: ProviderAnswer, cursor: str | None) -> Page[Entry]:
    """Read a page of the statement; what comes from an unknown source does not count as Pix."""

    def shape(document: Inside[list[documents.Movement]]) -> Page[Entry]:
        entries = tuple(_entry(each, answer.unknown_word) for each in document.inside)
        return continued(entries, cursor, document.cursor)

    return read(answer, documents.MOVEMENTS, shape)


def keys(answer: ProviderAnswer, cursor: str | None) -> Page[PixKey]:
    """Read keys; one of unknown status is pending, so that nobody pays to it yet."""

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
        kind = listed(words.KEY_TYPES, entry.type)
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
    """Write a tax number without punctuation; any other text, a masked number too, as it is."""
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
    kind = words.SOURCES.get(first)
    if kind is None:
        unknown()
    is_pix = kind is MovementKind.PIX
    if is_pix and rest.endswith(words.CHARGEBACK):
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
    status = known(words.KEY_STATUSES, key.status, PixKeyStatus.PENDING, unknown)
    return PixKey(
        provider_id=key.id,
        key=bare(key.id),
        type=listed(words.KEY_TYPES, key.type),
        status=status,
        created_at=utc(key.created),
    )
