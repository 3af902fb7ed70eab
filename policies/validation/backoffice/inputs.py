"""What the back office's management takes: bodies and filters; any fault is VALIDATION_FAILED."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar, get_args

import msgspec

from gateway.domain.identity.errors import NOT_FOUND, VALIDATION_FAILED
from gateway.domain.kernel import strict
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import DEFAULT_LIMIT, LARGEST_LIMIT, Keyset, PageStart, Paging
from gateway.domain.requests import schemas
from gateway.domain.requests.calls import Input, Parameter, RawRequest
from policies.validation.fields import Number, document, positive, unknown_field

Body = TypeVar("Body", bound=msgspec.Struct)
Read = TypeVar("Read")
Wanted = TypeVar("Wanted")

_REFUSES: Final = (VALIDATION_FAILED,)
_SECRETS: Final = frozenset({"credentials"})
"""Fields that are sealed as they stand, line breaks and all."""

# The words of msgspec; a test knows them.
_MISSING: Final = re.compile(r"missing required field `(\w+)`")
_PLACE: Final = re.compile(r"at `\$\.([\w.\[\]]+)")
_INDEX: Final = re.compile(r"\[\d*\]")
_WHY: Final = {
    "Expected `str` of length": "length",
    "Expected `datetime` with": "form",
    "Expected `str` matching": "form",
    "Expected `int` ": "out_of_range",
    "Expected `array` of length": "out_of_range",
    "Invalid enum value": "not_one_of",
    "Expected": "wrong_type",
    "": "form",
}

_COUNTED: Final = {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROS: Final = re.compile(r"[0-9]{1,17}")
"""Up to the year 5138: no date overflows."""

PAGING: Final = (
    Parameter(
        name="page",
        required=False,
        schema={**_COUNTED, "default": 1},
        description="Counted from 1.",
    ),
    Parameter(
        name="limit",
        required=False,
        schema={"type": "integer", "minimum": 1, "default": DEFAULT_LIMIT},
        description=f"Per page; more than {LARGEST_LIMIT} counts as {LARGEST_LIMIT}.",
    ),
)

KEYSET: Final = (
    Parameter(
        name="cursor",
        required=False,
        schema={
            "type": "string",
            "pattern": "^[0-9]{1,17}-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        },
        description="What `meta.next` of the page before said.",
    ),
    PAGING[1],
)


def body(shape: type[Body]) -> Input[Body]:
    """
    Take a JSON object of a shape; null counts as absent, unknown fields are counted.

    A shape that forbids them refuses them: misspelt, a filter would match everything.

    Where no field is needed the body may be absent: who revokes in a hurry has
    nothing to say.
    """
    fields = msgspec.structs.fields(shape)
    is_strict = shape.__struct_config__.forbid_unknown_fields
    may_be_absent = not any(each.required for each in fields)
    amounts = {each.name for each in fields if Money in {each.type, *get_args(each.type)}}

    def read(asked: RawRequest) -> Body:
        found = {} if may_be_absent and not asked.body else _document(asked)
        asked.unknown_fields = len(found.keys() - set(shape.__struct_fields__))
        unknown = unknown_field(found, shape) if is_strict else None
        if unknown is not None:
            raise ServiceError(VALIDATION_FAILED, "unknown_field", field=unknown)
        try:
            return msgspec.convert(_given(found, shape, amounts), shape)
        except msgspec.ValidationError as problem:
            reason, field = _told(str(problem))
            raise ServiceError(VALIDATION_FAILED, reason, field=field) from problem

    return Input(read=read, body=shape, refuses=_REFUSES, may_be_absent=may_be_absent)


def of_path(name: str) -> Input[str]:
    """Take the UUID that the path names; another form is nobody's: NOT_FOUND."""
    return _path(name, strict.uuid_text)


def word_of_path(name: str) -> Input[str]:
    """Take the text that the path names."""
    return _path(name, strict.plain_text)


def two_of_path(one: Input[str], other: Input[str]) -> Input[tuple[str, str]]:
    """Take two things that the path names."""
    return Input(read=lambda asked: (one.read(asked), other.read(asked)), refuses=(*one.refuses,))


def both(path: Input[str], shape: type[Body]) -> Input[tuple[str, Body]]:
    """Take what the path names, and a body."""
    further = body(shape)

    def read(asked: RawRequest) -> tuple[str, Body]:
        return path.read(asked), further.read(asked)

    return Input(
        read=read,
        body=shape,
        refuses=(*path.refuses, *further.refuses),
        may_be_absent=further.may_be_absent,
    )


def filters(read: Callable[[Filters], Wanted], *parameters: Parameter) -> Input[Wanted]:
    """Take filters of the query."""
    return Input(read=lambda asked: read(Filters(asked)), parameters=parameters, refuses=_REFUSES)


def text_filter(name: str, description: str, pattern: str = schemas.PLAIN_TEXT) -> Parameter:
    """Describe a filter by a text."""
    schema = {
        "type": "string",
        "minLength": 1,
        "maxLength": strict.MAX_TEXT,
        "pattern": pattern,
    }
    return Parameter(name=name, required=False, schema=schema, description=description)


def uuid_filter(name: str, description: str) -> Parameter:
    """Describe a filter by an id."""
    schema = {"type": "string", "format": "uuid"}
    return Parameter(name=name, required=False, schema=schema, description=description)


def whole_filter(
    name: str, description: str, *, least: int = 0, most: int = 10**18 - 1
) -> Parameter:
    """Describe a filter by a whole number."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Parameter(name=name, required=False, schema=schema, description=description)


def word_filter(name: str, words: type[Any]) -> Parameter:
    """Describe a filter by one of our words."""
    schema = {"type": "string", "enum": [str(each) for each in words]}
    return Parameter(
        name=name, required=False, schema=schema, description="One of the listed values."
    )


def instant_filter(name: str, description: str) -> Parameter:
    """Describe a filter by an instant."""
    schema = {"type": "string", "format": "date-time", "examples": ["2026-09-22T13:40:11Z"]}
    return Parameter(name=name, required=False, schema=schema, description=description)


class Filters:
    """The filters of one query; every method raises VALIDATION_FAILED for another form."""

    def __init__(self, asked: RawRequest) -> None:
        self._query = asked.query

    def text(self, name: str) -> str | None:
        """Read a text; None when it is absent."""
        return self.read(name, _filled)

    def uuid(self, name: str) -> str | None:
        """Read a UUID, in lower case; None when it is absent."""
        return self.read(name, strict.uuid_text)

    def instant(self, name: str) -> datetime | None:
        """Read an instant; None when it is absent."""
        return self.read(name, instant)

    def whole(self, name: str) -> int | None:
        """Read a whole number; None when it is absent."""
        return self.read(name, strict.whole_number)

    def paging(self) -> Paging:
        """Read which page."""
        page, limit = self.whole("page"), self.whole("limit")
        for name, number in (("page", page), ("limit", limit)):
            if number == 0:
                raise ServiceError(VALIDATION_FAILED, "positive_integer", field=name)
        return Paging(page or 1, min(limit or DEFAULT_LIMIT, LARGEST_LIMIT))

    def keyset(self) -> Keyset:
        """Read which page of a list that is not counted."""
        paging = self.paging()
        return Keyset(limit=paging.limit, after=self.read("cursor", page_start))

    def read(self, name: str, reader: Callable[[str], Read]) -> Read | None:
        """Read the one value there is; None when it is absent."""
        values = self._query.get(name, ())
        if not values:
            return None
        if len(values) > 1:
            raise ServiceError(VALIDATION_FAILED, "repeated", field=name)
        try:
            return reader(values[0])
        except ValueError as problem:
            raise ServiceError(VALIDATION_FAILED, "form", field=name) from problem


def page_start(text: str) -> PageStart:
    """Read where a page begins, as ``cursor`` wrote it; ValueError for another form."""
    micros, _, found = text.partition("-")
    if not _MICROS.fullmatch(micros):
        raise strict.Malformed
    return PageStart(_EPOCH + timedelta(microseconds=int(micros)), strict.uuid_text(found))


def cursor(found: PageStart) -> str:
    """Write a place for whoever asks for the next page."""
    return f"{(found.at - _EPOCH) // timedelta(microseconds=1)}-{found.id}"


def instant(text: str) -> datetime:
    """Read an instant of RFC 3339; ValueError for another form, and for one without a zone."""
    found = msgspec.convert(strict.plain_text(text), datetime)
    if found.tzinfo is None:
        raise strict.Malformed
    try:
        return found.astimezone(UTC)
    except OverflowError as problem:  # the first or last day of the calendar, elsewhere
        raise strict.Malformed from problem


def _filled(text: str) -> str:
    if not text:
        raise strict.Malformed
    return strict.plain_text(text)


def _path(name: str, reader: Callable[[str], str]) -> Input[str]:
    def read(asked: RawRequest) -> str:
        try:
            return reader(asked.path[name])
        except ValueError as problem:
            raise ServiceError(NOT_FOUND, "form") from problem

    return Input(read=read, refuses=(NOT_FOUND,))


def _told(problem: str) -> tuple[str, str]:
    """Return why msgspec refused a body, and the path of the field; never what was sent."""
    missing, place = _MISSING.search(problem), _PLACE.search(problem)
    path = _INDEX.sub("", place[1]) if place else ""
    if missing is not None:
        return "missing", f"{path}.{missing[1]}" if path else missing[1]
    return next(word for begins, word in _WHY.items() if problem.startswith(begins)), path


def _document(asked: RawRequest) -> Mapping[str, Any]:
    """Read one JSON object; the reason stays, the code is ours."""
    try:
        return document(asked)
    except ServiceError as refusal:
        raise ServiceError(VALIDATION_FAILED, refusal.reason) from refusal


def _given(
    found: Mapping[str, Any], shape: type[msgspec.Struct], amounts: Collection[str]
) -> dict[str, Any]:
    """Return what is given and known: null is not, texts are plain, and amounts above zero."""
    return {
        name: _amount(name, found[name]) if name in amounts else _meant(name, found[name])
        for name in shape.__struct_fields__
        if found.get(name) is not None
    }


def _meant(name: str, value: object) -> object:
    """Read a value of ours; ServiceError for one with surprises."""
    try:
        return value if name in _SECRETS else _plain(value)
    except ValueError as problem:
        reason = "text_form" if isinstance(value, str) else "form"
        raise ServiceError(VALIDATION_FAILED, reason, field=name) from problem


def _amount(name: str, value: object) -> Money:
    """Read an amount from the number as it was written."""
    try:
        return positive(value, name)
    except ServiceError as refusal:
        raise ServiceError(VALIDATION_FAILED, refusal.reason, field=name) from refusal


def _plain(value: object) -> object:
    """Return a value without surprises; ValueError where there are some."""
    match value:
        case str():
            return strict.plain_text(value)
        case Number():
            return strict.whole_number(value.text)
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {
                name: each if name in _SECRETS else _plain(each)
                for name, each in value.items()
                if each is not None
            }
        case _:
            return value
