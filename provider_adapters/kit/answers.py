"""
Reading a bank's JSON; an unreadable answer is a ``BadReply``.

Answers that decide whether money moved are read strictly. Other answers are read tolerantly
where the strict way fails: see ``read_document``. The client notes on each answer which request
it answers, and its operation distinguishes the two.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Protocol, TypeVar, cast

import msgspec

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port.providers import BadReply, ProviderError, Reason
from gateway.core import strict
from provider_adapters.kit import tolerant
from provider_adapters.kit.faults import of_status, retry_after

__all__ = [
    "ProviderAnswer",
    "Reader",
    "decode_body",
    "inside",
    "is_json",
    "known",
    "listed",
    "listed_error",
    "of_status",
    "provider_id",
    "read_document",
    "reader",
    "retry_after",
    "try_body",
    "try_document",
]

Document = TypeVar("Document")
Inner = TypeVar("Inner", covariant=True)
Value = TypeVar("Value")
Errors = Mapping[tuple[int, str], tuple[type[ProviderError], str]]
"""What a bank's refusals mean, by status and code: the error, and its reason."""

_OK = frozenset({HTTPStatus.OK.value})
# What the store keeps of a bank's id.
_LONGEST_ID = 128
# RFC 8259, 8.1: not to be written, and to be ignored where it was.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ANY = msgspec.json.Decoder()


def read_document(
    answer: ProviderAnswer,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
    statuses: Collection[int] = _OK,
    *,
    whole: bool = False,
) -> Value:
    """
    Decode an answer's document and make a value of it.

    Integers are exact, never floats or texts; NaN is no value of a field that is read. ``shape``
    may raise ``ValueError`` for a document that makes no value.

    Damaged text is repaired in every answer: half of a surrogate pair, raw control characters
    and bytes that are no UTF-8. An id, amount or word that was damaged stays unreadable.

    Of ``create_payout``, ``find_payout``, ``create_refund`` and ``find_refund`` no other form is
    taken. Any other document that fails is read once more, and then a number may be written as
    a text, a text as a number, a whole number with a fraction of zeros, and null for an empty
    list or for a field that may be absent; a text that may be absent may be anything else. A
    row of a list that makes no value is left out and counted, if another row makes one; what is
    nested too deep to be decoded makes none.
    ``shape`` may be called several times. ``whole`` leaves out none: for rows that are read
    together, such as the refunds of a payment, which are added up.

    Raises:
        ProviderError: By status, when it is none of ``statuses``.
        BadReply: ``not_json`` or ``wrong_shape``.
    """
    if answer.status not in statuses:
        raise of_status(answer)
    return _made(answer, decoder, shape, whole)


def _made(
    answer: ProviderAnswer,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
    whole: bool,  # noqa: FBT001 - a keyword costs every balance
) -> Value:
    """Decode a good answer strictly, else tolerantly where ``read_document`` allows it."""
    body = answer.body.removeprefix(_BYTE_ORDER_MARK)
    try:
        return shape(decoder.decode(body))
    except tolerant.UNREADABLE as problem:
        with contextlib.suppress(*tolerant.UNREADABLE):
            return _read_again(answer, body, decoder, shape, whole, problem)
        raise BadReply(_reason(problem), http_status=answer.status) from problem


def _read_again(  # noqa: PLR0913, PLR0917 - what ``_made`` was given, and why that failed
    answer: ProviderAnswer,
    body: bytes,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
    whole: bool,  # noqa: FBT001 - as above
    problem: Exception,
) -> Value:
    """Read a document whose texts are damaged, or whose values have another form, or both."""
    may_be_tolerant = tolerant.may_be_tolerant(answer)
    for repair in (tolerant.repaired, tolerant.shallow)[: 1 + may_be_tolerant]:
        if _reason(problem) is Reason.NOT_JSON:
            body = repair(body)
            try:
                return shape(decoder.decode(body))
            except tolerant.UNREADABLE as still:
                problem = still
    if not may_be_tolerant or _reason(problem) is Reason.NOT_JSON:
        raise problem
    return tolerant.read(answer, body, decoder, shape, whole=whole)


class Reader(Protocol):
    """Reads the good answers of one bank, and raises errors for its refusals by its own codes."""

    def __call__(
        self,
        answer: ProviderAnswer,
        decoder: msgspec.json.Decoder[Document],
        shape: Callable[[Document], Value],
        statuses: Collection[int] = _OK,
        *,
        whole: bool = False,
    ) -> Value:
        """Read an answer of one of these statuses, as ``read_document`` does."""
        ...


def reader(failure: Callable[[ProviderAnswer], ProviderError]) -> Reader:
    """Return the reader of a bank's answers; ``failure`` names the error of a refusal."""

    def read(
        answer: ProviderAnswer,
        decoder: msgspec.json.Decoder[Document],
        shape: Callable[[Document], Value],
        statuses: Collection[int] = _OK,
        *,
        whole: bool = False,
    ) -> Value:
        if answer.status not in statuses:
            raise failure(answer)
        return _made(answer, decoder, shape, whole)

    return read


def _reason(problem: Exception) -> Reason:
    """Return ``WRONG_SHAPE`` for JSON of another form, ``NOT_JSON`` for anything else."""
    if isinstance(problem, msgspec.ValidationError):
        return Reason.WRONG_SHAPE
    is_json = not isinstance(problem, msgspec.DecodeError | UnicodeDecodeError | RecursionError)
    return Reason.WRONG_SHAPE if is_json else Reason.NOT_JSON


class Inside(Protocol[Inner]):
    """A document of which one field is read, and the bank's cursor where one is named."""

    @property
    def inside(self) -> Inner:
        """The field's value."""
        ...

    @property
    def cursor(self) -> str | None:
        """The cursor of the next page; None for the end of the list."""
        ...


def inside(
    field: str, kind: type[Document], cursor: str = ""
) -> msgspec.json.Decoder[Inside[Document]]:
    """
    Return the decoder of an object of which one field is read, such as ``{"charge": {...}}``.

    ``cursor`` names the field of the bank's cursor, which may be absent.
    """
    paged = [("cursor", str | None, None)] if cursor else []
    names = {"inside": field, "cursor": cursor}
    made = msgspec.defstruct(field, [("inside", kind), *paged], rename=names, frozen=True)
    return cast("msgspec.json.Decoder[Inside[Document]]", msgspec.json.Decoder(made))


def listed(table: Mapping[str, Value], word: str) -> Value:
    """Look up a word for which no default is safe; raises ``ValueError``."""
    value = table.get(word)
    if value is None:
        raise ValueError(Reason.UNKNOWN_STATUS)
    return value


def known(
    table: Mapping[str, Value], word: str, default: Value, unknown: Callable[[], None]
) -> Value:
    """Look up a word; one that is not listed is counted, and means the careful ``default``."""
    value = table.get(word)
    if value is None:
        unknown()
        return default
    return value


def listed_error(answer: ProviderAnswer, code: str, errors: Errors) -> ProviderError:
    """Return the error of a refusal: listed for its code, else by its status."""
    by_status = of_status(answer)
    kind, reason = errors.get((answer.status, code), (None, ""))
    if kind is None:
        return by_status
    return kind(reason, http_status=answer.status, retry_after=by_status.retry_after)


def try_document(
    answer: ProviderAnswer, decoder: msgspec.json.Decoder[Document]
) -> Document | None:
    """Decode an optional document, such as an error's code; None when it cannot be decoded."""
    try:
        return decode_body(answer.body, decoder)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def decode_body(body: bytes, decoder: msgspec.json.Decoder[Document]) -> Document:
    """
    Decode a document, its damaged texts repaired.

    Raises:
        MsgspecError, ValueError, RecursionError: It cannot be decoded.
    """
    plain = body.removeprefix(_BYTE_ORDER_MARK)
    try:
        return decoder.decode(plain)
    except tolerant.UNREADABLE as problem:
        if _reason(problem) is Reason.WRONG_SHAPE:
            raise
        return decoder.decode(tolerant.repaired(plain))


def try_body(body: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[Document]) -> Document | None:
    """
    Decode a callback, or a part of one, more tolerantly than an answer; None when it cannot be.

    A callback only triggers a query, whose answer decides. So what is
    readable of a document that is cut is decoded, too.
    """
    plain = bytes(body).removeprefix(_BYTE_ORDER_MARK)
    try:
        return decoder.decode(plain)
    except tolerant.UNREADABLE:
        for read in (tolerant.decoded, tolerant.salvaged):
            with contextlib.suppress(*tolerant.UNREADABLE):
                return tolerant.fitted(read(plain), decoder)
        return None


def is_json(body: bytes) -> bool:
    """Return whether a callback is complete JSON after damaged texts are repaired."""
    try:
        decode_body(body, _ANY)
    except tolerant.UNREADABLE:
        return False
    return True


def is_e2e_id(text: str) -> bool:
    """Return whether a text has the form of an end-to-end id: 32 characters (API Pix 2.9)."""
    return strict.is_e2e_id(text)


def provider_id(text: str) -> str:
    """
    Return a bank's id if it can be stored and sent back.

    Raises:
        ValueError: It is longer than 128 characters, holds control characters or was damaged.
    """
    if tolerant.REPLACEMENT in text:
        raise strict.Malformed
    return strict.plain_text(text, _LONGEST_ID)
