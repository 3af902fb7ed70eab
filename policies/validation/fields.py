"""
Parsing of JSON bodies and their fields.

Absent, null and empty are the same, and nothing is converted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec

from gateway.core import errors, strict
from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.core.money import Money

Value = TypeVar("Value")
Word = TypeVar("Word", bound=StrEnum)


def missing(fields: Mapping[str, Any], name: str) -> bool:
    """Return whether a field is absent; null and the empty text count as absent."""
    return fields.get(name) is None or fields[name] == ""


def demand(fields: Mapping[str, Any], names: Iterable[str], within: str = "") -> None:
    """Refuse with ``SVC.VAL.001`` the first of the names that is missing in the object."""
    for name in names:
        if missing(fields, name):
            raise ServiceError(errors.FIELD_MISSING, "missing", field=within + name)


def read(reader: Callable[[str], Value], found: object, name: str, reason: str) -> Value:
    """Read a text, or refuse with ``SVC.VAL.011``: ``name`` is the field, ``reason`` the word."""
    if not isinstance(found, str):
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=name)
    try:
        return reader(found)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=name) from problem


def word(kind: type[Word], found: object, name: str) -> Word:
    """Read one of the words of an enumeration, or refuse with ``SVC.VAL.011`` and the words."""
    words = [each.value for each in kind]
    if isinstance(found, str) and found in words:
        return kind(found)
    raise ServiceError(errors.PAYLOAD_INVALID, "not_one_of", field=name, words=words)


def text(fields: Mapping[str, Any], name: str, within: str = "") -> str:
    """Read an optional text; ``within`` is the path of the object that contains it."""
    if missing(fields, name):
        return ""
    return read(strict.plain_text, fields[name], within + name, "text_form")


def reference(fields: Mapping[str, Any]) -> str:
    """Read the reference."""
    return read(strict.reference, fields["reference"], "reference", "reference_form")


def positive(found: object, name: str = "value") -> Money:
    """Read an amount above zero, from the number as it was written; else ``.011`` or ``.009``."""
    written = found.text if isinstance(found, Number) else None
    value = read(strict.amount, written, name, "amount_form")
    if value.centavos <= 0:
        raise ServiceError(errors.AMOUNT_NOT_POSITIVE, "not_positive", field=name)
    return value


def day(found: object, name: str) -> date:
    """Read a date, or refuse with ``SVC.VAL.007``."""
    if not isinstance(found, str):
        raise ServiceError(errors.DATE_INVALID, "date_form", field=name)
    try:
        return strict.day(found)
    except ValueError as problem:
        raise ServiceError(errors.DATE_INVALID, "date_form", field=name) from problem


def whole(found: object) -> int:
    """Read a whole number without sign; ValueError for anything else."""
    if not isinstance(found, Number):
        raise strict.Malformed
    return strict.whole_number(found.text)


_MEDIA_TYPE = re.compile(
    r"application/json *(?:;[\t -~]*)?",
    re.ASCII | re.IGNORECASE,
)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\";\s]*)\"?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number as it was written; only the reader of a field gives it meaning."""

    text: str


def unknown_field(body: Mapping[str, Any], shape: type[msgspec.Struct]) -> str | None:
    """Return a field that a shape lacks, empty for a name unlike ours; None without one."""
    return next((like_ours(name) for name in body if name not in shape.__struct_fields__), None)


def like_ours(name: str) -> str:
    """Return a name if it could be one of ours, and may be repeated in an answer; else nothing."""
    return name if _LIKE_OURS.fullmatch(name) else ""


_LIKE_OURS: Final = re.compile(r"[a-z_]{1,40}", re.ASCII)


def document(asked: RawRequest) -> Mapping[str, Any]:
    """
    Read the body as one JSON object.

    Raises:
        ServiceError: ``SVC.VAL.011`` for another media type or charset, any
            content coding, and JSON that is malformed, not an object, or has
            duplicate keys, non-finite numbers or lone surrogates.
    """
    _check_media(asked)
    try:
        text = asked.body.decode("utf-8")
        found = _READER.decode(text)
        if "\\u" in text:
            _refuse_surrogates(found)
    except (ValueError, RecursionError) as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, "json") from problem
    if not isinstance(found, dict):
        raise ServiceError(errors.PAYLOAD_INVALID, "json")
    return found


def _check_media(asked: RawRequest) -> None:
    """Let JSON in UTF-8 without a content coding through."""
    media = asked.content_type or ""
    charsets = {each.lower() for each in _CHARSET.findall(media)}
    if _MEDIA_TYPE.fullmatch(media) is None or charsets - {"utf-8"}:
        raise ServiceError(errors.PAYLOAD_INVALID, "media_type")
    if asked.content_encoding is not None:
        raise ServiceError(errors.PAYLOAD_INVALID, "content_coding")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        problem = "a key stands twice"
        raise ValueError(problem)
    return found


def _refuse_constant(name: str) -> Any:  # noqa: ANN401 - the signature of a decoder's
    """Refuse NaN and the infinities, which are not JSON."""
    raise ValueError(name)


# Made once: it costs as much as a small document to make.
_READER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=Number,
    parse_int=Number,
    parse_constant=_refuse_constant,
)


def _refuse_surrogates(found: object) -> None:
    """Raise UnicodeEncodeError, a ValueError, when any text holds a lone surrogate."""
    json.dumps(found, ensure_ascii=False, default=lambda number: number.text).encode()
