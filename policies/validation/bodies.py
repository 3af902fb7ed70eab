"""
The one reader of bodies that structs declare; any fault is VALIDATION_FAILED.

Partners' bodies have an order of checks and codes of their own: see ``payout``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeVar, get_args

import msgspec

from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.kernel import strict
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import Money
from gateway.domain.requests.calls import Input, RawRequest
from policies.validation.fields import Number, document, missing, positive, unknown_field

Body = TypeVar("Body", bound=msgspec.Struct)

_SECRETS: Final = frozenset({"credentials"})
"""Fields that are sealed as they stand."""

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


def body(shape: type[Body], as_sent: Collection[str] = _SECRETS) -> Input[Body]:
    """
    Take a JSON object of a shape; null counts as absent, unknown fields are counted.

    A required field that is the empty text is missing. Fields ``as_sent`` may hold any
    characters, line breaks and all.

    A shape that forbids them refuses them: misspelt, a filter would match everything.

    Where no field is needed the body may be absent: who revokes in a hurry has
    nothing to say.
    """
    fields = msgspec.structs.fields(shape)
    is_strict = shape.__struct_config__.forbid_unknown_fields
    may_be_absent = not any(each.required for each in fields)
    amounts = {each.name for each in fields if Money in {each.type, *get_args(each.type)}}

    def given(found: Mapping[str, Any]) -> Iterator[str]:
        for each in fields:
            if not (missing(found, each.name) if each.required else found.get(each.name) is None):
                yield each.name

    def of(name: str, value: object) -> object:
        return _amount(name, value) if name in amounts else _meant(name, value, as_sent)

    def read(asked: RawRequest) -> Body:
        found = {} if may_be_absent and not asked.body else _document(asked)
        asked.unknown_fields = len(found.keys() - set(shape.__struct_fields__))
        unknown = unknown_field(found, shape) if is_strict else None
        if unknown is not None:
            raise ServiceError(VALIDATION_FAILED, "unknown_field", field=unknown)
        try:
            return msgspec.convert({name: of(name, found[name]) for name in given(found)}, shape)
        except msgspec.ValidationError as problem:
            reason, field = _told(str(problem))
            raise ServiceError(VALIDATION_FAILED, reason, field=field) from problem

    return Input(read=read, body=shape, refuses=(VALIDATION_FAILED,), may_be_absent=may_be_absent)


def _told(problem: str) -> tuple[str, str]:
    """Return why msgspec refused a body, and the path of the field; never what was sent."""
    absent, place = _MISSING.search(problem), _PLACE.search(problem)
    path = _INDEX.sub("", place[1]) if place else ""
    if absent is not None:
        return "missing", f"{path}.{absent[1]}" if path else absent[1]
    return next(word for begins, word in _WHY.items() if problem.startswith(begins)), path


def _document(asked: RawRequest) -> Mapping[str, Any]:
    """Read one JSON object; the reason stays, the code is ours."""
    try:
        return document(asked)
    except ServiceError as refusal:
        raise ServiceError(VALIDATION_FAILED, refusal.reason) from refusal


def _meant(name: str, value: object, as_sent: Collection[str]) -> object:
    """Read a value of ours; ServiceError for one with surprises."""
    try:
        return value if name in as_sent else _plain(value)
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
