"""Reading a bank's JSON: strictly typed, and unreadable is a ``BadReply``, whatever is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import TypeVar

import msgspec

from gateway.domain.bank.providers import BadReply
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.reasons import Reason
from provider_adapters._shared import faults

Document = TypeVar("Document")
Value = TypeVar("Value")

_OK = frozenset({HTTPStatus.OK.value})


def understood(
    answer: ProviderAnswer,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
    statuses: Collection[int] = _OK,
) -> Value:
    """
    Read an answer's document and shape it into a value.

    Integers are exact and never a float or a text; NaN is no JSON. ``shape`` may
    raise ``ValueError`` for what no value can be made of.

    Raises:
        ProviderError: by status, when it is none of ``statuses``.
        BadReply: ``not_json`` or ``wrong_shape``.
    """
    if answer.status not in statuses:
        raise faults.of_status(answer)
    try:
        return shape(decoder.decode(answer.body))
    except msgspec.ValidationError as problem:
        raise BadReply(Reason.WRONG_SHAPE, http_status=answer.status) from problem
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadReply(Reason.NOT_JSON, http_status=answer.status) from problem
    except (ValueError, ArithmeticError) as problem:
        raise BadReply(Reason.WRONG_SHAPE, http_status=answer.status) from problem


def part_of(answer: ProviderAnswer, decoder: msgspec.json.Decoder[Document]) -> Document | None:
    """Read what may be there, such as an error's code; None when it cannot be read."""
    try:
        return decoder.decode(answer.body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
