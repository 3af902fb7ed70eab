"""Inputs of the back office: bodies and filters; any error is VALIDATION_FAILED."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

import msgspec

from gateway.core import schemas, strict
from gateway.core.calls import Input, Parameter, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.user_errors import NOT_FOUND, VALIDATION_FAILED
from gateway.core.windows import DEFAULT_LIMIT, LARGEST_LIMIT, Keyset, PageStart, Paging
from policies.validation.bodies import Body, body
from policies.validation.inputs import SEARCH

Read = TypeVar("Read")
Wanted = TypeVar("Wanted")

_REFUSES: Final = (VALIDATION_FAILED,)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROS: Final = re.compile(r"[0-9]{1,17}")
"""Up to the year 5138: no date overflows."""

PAGING: Final = tuple(each for each in SEARCH.parameters if each.name in {"page", "limit"})

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


def of_path(name: str) -> Input[str]:
    """Return the input of a UUID in the path; a malformed one is NOT_FOUND."""
    return _path(name, strict.uuid_text)


def word_of_path(name: str) -> Input[str]:
    """Return the input of a text in the path."""
    return _path(name, strict.plain_text)


def both(path: Input[str], shape: type[Body]) -> Input[tuple[str, Body]]:
    """Return the input of a path parameter and a body."""
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
    """Return the input of query filters."""
    return Input(read=lambda asked: read(Filters(asked)), parameters=parameters, refuses=_REFUSES)


def search(
    kind: Callable[..., Wanted],
    /,
    *parameters: Parameter,
    is_paged: bool = True,
    **readers: Callable[[str], object],
) -> Input[Wanted]:
    """
    Declare a search as an input; its fields have the names of the filters.

    Args:
        kind: Builds the search from its fields and ``paging``.
        parameters: The filters; read as texts unless ``readers`` has a reader of that name.
        is_paged: Whether page and limit are parameters, too.
        readers: Readers by filter; each raises ValueError for an invalid value.
    """

    def read(given: Filters) -> Wanted:
        names = [each.name for each in parameters]
        found = {name: given.read(name, readers.get(name, _filled)) for name in names}
        return kind(paging=given.paging(), **found)

    return filters(read, *parameters, *(PAGING if is_paged else ()))


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


def word_filter(
    name: str, words: Iterable[str], description: str = "One of the listed values."
) -> Parameter:
    """Describe a filter by one of our words."""
    schema = {"type": "string", "enum": [str(each) for each in words]}
    return Parameter(name=name, required=False, schema=schema, description=description)


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
    """Write a place as a cursor of the next page."""
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


PAGE: Final[Input[Paging]] = filters(Filters.paging, *PAGING)
"""Which page of a list."""
