"""Schemas of requests: patterns, and shapes with several forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from gateway.core.fields import meaning

Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True)
class Choice:
    """
    The forms of a shape; each value has exactly one.

    Attributes:
        discriminator: The field whose word names the form, a constant in each; empty
            where the fields themselves distinguish the forms.
    """

    forms: tuple[type, ...]
    discriminator: str


_CHOICES: Final[dict[type, Choice]] = {}


CHOICES: Final[Mapping[type, Choice]] = MappingProxyType(_CHOICES)
"""Every shape that was declared with ``one_of``."""


def one_of(*forms: type, discriminator: str = "") -> Callable[[type[Shape]], type[Shape]]:
    """Declare the forms of a shape that the code builds or reads as one struct."""

    def declare(shape: type[Shape]) -> type[Shape]:
        _CHOICES[shape] = Choice(forms, discriminator)
        return shape

    return declare


_CONTROL: Final = r"\u0000-\u001f\u007f-\u009f"


PLAIN_TEXT: Final = f"^[^{_CONTROL}]*$"
"""Without control characters; its length is told apart."""


REFERENCE: Final = rf"^([^.{_CONTROL}]|\.[^.{_CONTROL}]|\.\.[^{_CONTROL}])[^{_CONTROL}]*$"
"""Plain, not empty, and neither ``.`` nor ``..``."""


_SENTENCE: Final = rf"^[^{_CONTROL}]*[^\s{_CONTROL}][^{_CONTROL}]*$"
"""Plain, and more than spaces."""


_NOT_IN_NAMES: Final = rf"{_CONTROL}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"


NAME: Final = rf"^[^{_NOT_IN_NAMES}]*[^\s{_NOT_IN_NAMES}][^{_NOT_IN_NAMES}]*$"
"""The same, without characters that change the text direction or break a line."""


TAX_NUMBER: Final = "^[0-9A-Za-z./ -]+$"
"""The characters of a CPF or CNPJ; its check digits can be told by no pattern."""


BANK_NUMBER: Final = "^([0-9]{3}|[0-9]{8})$"


BRANCH: Final = "^[0-9]{1,4}$"


ACCOUNT: Final = "^[0-9]{1,20}(-[0-9A-Za-z])?$"


Moment = Annotated[
    datetime,
    Meta(
        tz=True,
        description="RFC 3339 in UTC",
        examples=["2026-09-22T13:40:11Z"],
        extra_json_schema={"pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"},
    ),
]
"""An instant in UTC that is never absent; it is written to the second."""


Text = Annotated[str, Meta(max_length=1024, extra_json_schema={"pattern": PLAIN_TEXT})]
"""A text as it is documented."""
Reference = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        description="Your identifier of it, unique in the account. Send it again to retry safely.",
        examples=["order-1042"],
        extra_json_schema={"pattern": REFERENCE},
    ),
]
TaxNumber = Annotated[
    str,
    Meta(
        max_length=1024,
        description="A CPF or CNPJ, with or without its punctuation.",
        examples=["529.982.247-25"],
        extra_json_schema={"minLength": 11, "pattern": TAX_NUMBER},
    ),
]
Name = Annotated[
    str,
    Meta(min_length=1, max_length=200, extra_json_schema={"pattern": NAME}),
]
Why = Annotated[
    str,
    Meta(min_length=1, max_length=500, extra_json_schema={"pattern": _SENTENCE}),
]
"""A reason that must be given."""


class ReasonBody(Struct):
    """Why; it stays on record."""

    reason: Annotated[
        str, meaning("Why; for people who read it later.", "asked for by telephone", max_length=200)
    ] = ""


Day = Annotated[str, Meta(examples=["2026-11-20"], extra_json_schema={"format": "date"})]
KeyType = Literal["cpf", "cnpj", "email", "phone", "evp"]


MAY_BE_EMPTY: Final = r"^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)?$"
"""An instant, or nothing: of another form than JSON Schema's ``date-time``."""


_DOCUMENTED: Final = Meta(
    description="RFC 3339 in UTC; empty when absent",
    examples=["2026-09-22T13:40:11Z"],
    extra_json_schema={"type": "string", "pattern": MAY_BE_EMPTY},
)
OptionalMoment = Annotated[Annotated[datetime, Meta(tz=True)] | None, _DOCUMENTED]
"""An instant in UTC, written to the second; None is written as an empty text."""
PresentMoment = Annotated[datetime, Meta(tz=True), _DOCUMENTED]
"""An instant that is never absent, and documented as one that may be."""


def inline(words: type[StrEnum]) -> Meta:
    """Describe a field by the words of an enumeration, in place of a schema of its own."""
    return Meta(extra_json_schema={"type": "string", "enum": sorted(each.value for each in words)})


Instant = Annotated[
    str,
    Meta(
        description="RFC 3339 in UTC; empty when absent",
        pattern=MAY_BE_EMPTY,
        examples=["2026-09-22T13:40:11Z"],
    ),
]
"""An instant in UTC that may be absent, as ``instant`` writes it."""

_TO_THE_SECOND: Final = len("2026-09-22T13:40:11")


def instant(at: datetime | None) -> str:
    """Write an instant as RFC 3339 in UTC, to the second; an absent one is empty."""
    if at is None:
        return ""
    # Writes what ``isoformat`` does, at a quarter of its price.
    written: str = msgspec.to_builtins(at.astimezone(UTC))
    return written[:_TO_THE_SECOND] + "Z"
