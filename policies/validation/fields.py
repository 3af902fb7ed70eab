"""Fields of a JSON body: absent, null and empty are the same, and nothing is converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from gateway.domain import errors, patterns, strict
from gateway.domain.errors import ErrorCode, ServiceError
from gateway.domain.money import Money
from policies.validation.document import Number

Value = TypeVar("Value")

Text = Annotated[
    str, msgspec.Meta(max_length=1024, extra_json_schema={"pattern": patterns.PLAIN_TEXT})
]
"""A text as it is documented."""

Reference = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=1024,
        description="The caller's own word for it, unique per account, case-sensitive.",
        examples=["order-1042"],
        extra_json_schema={"pattern": patterns.REFERENCE},
    ),
]
TaxNumber = Annotated[
    str,
    msgspec.Meta(
        min_length=11,
        max_length=1024,
        description="A CPF or CNPJ, with or without its punctuation.",
        examples=["529.982.247-25"],
        extra_json_schema={"pattern": patterns.TAX_NUMBER},
    ),
]
Day = Annotated[str, msgspec.Meta(examples=["2026-11-20"], extra_json_schema={"format": "date"})]
KeyType = Literal["cpf", "cnpj", "email", "phone", "evp"]


def missing(fields: Mapping[str, Any], name: str) -> bool:
    """Say whether a field is absent; null and the empty text count as absent."""
    return fields.get(name) is None or fields[name] == ""


def read(reader: Callable[[str], Value], found: object, name: str) -> Value:
    """Read a text, or refuse with ``SVC.VAL.011``; the field's name is the reason."""
    if not isinstance(found, str):
        raise ServiceError(errors.PAYLOAD_INVALID, name)
    try:
        return reader(found)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, name) from problem


def text(fields: Mapping[str, Any], name: str) -> str:
    """Read an optional text."""
    return "" if missing(fields, name) else read(strict.plain_text, fields[name], name)


def positive(found: object) -> Money:
    """Read an amount above zero, from the number as it was written; else ``.011`` or ``.009``."""
    if not isinstance(found, Number):
        raise ServiceError(errors.PAYLOAD_INVALID, "value")
    value = read(strict.amount, found.text, "value")
    if value.centavos <= 0:
        raise ServiceError(errors.AMOUNT_NOT_POSITIVE, "value")
    return value


def day(found: object) -> date:
    """Read a date, or refuse with ``SVC.VAL.007``."""
    if not isinstance(found, str):
        raise ServiceError(errors.DATE_INVALID, "date")
    try:
        return strict.day(found)
    except ValueError as problem:
        raise ServiceError(errors.DATE_INVALID, "date") from problem


def whole(found: object, error: ErrorCode, name: str) -> int:
    """Read a whole number without sign, or refuse with ``error``."""
    if not isinstance(found, Number):
        raise ServiceError(error, name)
    try:
        return strict.whole_number(found.text)
    except ValueError as problem:
        raise ServiceError(error, name) from problem
