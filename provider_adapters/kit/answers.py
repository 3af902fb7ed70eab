"""Reading a bank's JSON, strictly typed; whatever cannot be read is a ``BadReply``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import TypeVar

import msgspec

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import BadReply
from gateway.domain.kernel import strict
from gateway.net.client.messages import ProviderAnswer
from provider_adapters._road.faults import of_status, retry_after

__all__ = [
    "ProviderAnswer",
    "of_status",
    "provider_id",
    "read_document",
    "retry_after",
    "try_document",
]

Document = TypeVar("Document")
Value = TypeVar("Value")

_OK = frozenset({HTTPStatus.OK.value})
# What the store keeps of a bank's id.
_LONGEST_ID = 128


def read_document(
    answer: ProviderAnswer,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
    statuses: Collection[int] = _OK,
) -> Value:
    """
    Decode an answer's document and make a value of it.

    Integers are exact, never floats or texts; NaN is refused. ``shape`` may
    raise ``ValueError`` for a document that makes no value.

    Raises:
        ProviderError: By status, when it is none of ``statuses``.
        BadReply: ``not_json`` or ``wrong_shape``.
    """
    if answer.status not in statuses:
        raise of_status(answer)
    try:
        return shape(decoder.decode(answer.body))
    except msgspec.ValidationError as problem:
        raise BadReply(Reason.WRONG_SHAPE, http_status=answer.status) from problem
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadReply(Reason.NOT_JSON, http_status=answer.status) from problem
    except (ValueError, ArithmeticError) as problem:
        raise BadReply(Reason.WRONG_SHAPE, http_status=answer.status) from problem


def try_document(
    answer: ProviderAnswer, decoder: msgspec.json.Decoder[Document]
) -> Document | None:
    """Decode what may be there, such as an error's code; None when it cannot be decoded."""
    try:
        return decoder.decode(answer.body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def is_e2e_id(text: str) -> bool:
    """Return whether a text has the form of an end-to-end id: 32 characters (API Pix 2.9)."""
    return strict.is_e2e_id(text)


def provider_id(text: str) -> str:
    """
    Return a bank's id if it can be stored and sent back.

    Raises:
        ValueError: It is longer than 128 characters or holds control characters.
    """
    return strict.plain_text(text, _LONGEST_ID)
