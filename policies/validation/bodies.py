"""
The one reader of bodies that structs declare.

Partners' payouts have an order of checks of their own: see ``payout``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar, get_args

import msgspec

from gateway.core import errors, strict
from gateway.core.calls import Input, RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.user_errors import VALIDATION_FAILED
from policies.validation.fields import Number, document, missing, positive, unknown_field
from policies.validation.forms import Form
from policies.validation.words import words_at

Body = TypeVar("Body", bound=msgspec.Struct)
Codes = Mapping[str, ErrorCode]
"""Codes by the word for what is wrong; that of the empty word is for all others."""

MANAGEMENT: Final[Codes] = {"": VALIDATION_FAILED}
ORDERS: Final[Codes] = {
    "": errors.PAYLOAD_INVALID,
    "missing": errors.FIELD_MISSING,
    "not_positive": errors.AMOUNT_NOT_POSITIVE,
}
_AS_SENT: Final = frozenset({"credentials", "public_key"})
"""Fields of several lines: sealed as they stand, or read by a rule of their own."""

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


def body(
    shape: type[Body], codes: Codes = MANAGEMENT, as_sent: Collection[str] = _AS_SENT
) -> Input[Body]:
    """
    Take a JSON object of a shape; unknown fields are counted.

    Null counts as absent, and so does the empty text of a field that is required or unset.
    Fields ``as_sent`` may hold any characters, line breaks and all.

    A shape that forbids unknown fields refuses them: misspelt, a filter would match everything.

    Where no field is needed the body may be absent: who revokes in a hurry has
    nothing to say.
    """
    reader = _Reader(shape, codes, as_sent)
    refuses = {code for word, code in codes.items() if reader.amounts or word != "not_positive"}
    return Input(
        read=reader.read,
        body=shape,
        refuses=tuple(code for code in codes.values() if code in refuses),
        may_be_absent=reader.may_be_absent,
    )


def of_form(form: Form, shape: type[Body]) -> Body:
    """
    Read a shape from the fields of a form, by the rules of ``body``; an empty field is absent.

    Raises:
        ServiceError: ``VALIDATION_FAILED`` with the field.
    """
    given = {name: form[name] for name in shape.__struct_fields__ if form[name]}
    return _Reader(shape, MANAGEMENT, _AS_SENT).convert(given, texts=True)


def read_fields(
    shape: type[Body], fields: Mapping[str, Any], as_sent: Collection[str] = _AS_SENT
) -> Body:
    """
    Read a shape from values by name, by the rules of ``body``.

    Raises:
        ServiceError: ``VALIDATION_FAILED`` with the field.
    """
    return _Reader(shape, MANAGEMENT, as_sent).convert(fields)


def _is_amount(kind: object) -> bool:
    """Return whether a field's type is ``Money``, optional and annotated forms included."""
    return kind is Money or any(map(_is_amount, get_args(kind)))


def _part(kind: object) -> type[msgspec.Struct] | None:
    """Return the struct of a field, or of the items of its list; None for plain values."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    return next(filter(None, map(_part, get_args(kind))), None)


class _Reader(Generic[Body]):
    def __init__(self, shape: type[Body], codes: Codes, as_sent: Collection[str]) -> None:
        self._shape = shape
        self._codes = codes
        self._as_sent = as_sent
        self._fields = msgspec.structs.fields(shape)
        self._is_strict = shape.__struct_config__.forbid_unknown_fields
        self.may_be_absent = not any(each.required for each in self._fields)
        self.amounts = {each.name for each in self._fields if _is_amount(each.type)}
        self._parts = {each.name: _part(each.type) for each in self._fields}

    def read(self, asked: RawRequest) -> Body:
        """Read a body; raises ServiceError with one of the codes."""
        found = {} if self.may_be_absent and not asked.body else self._document(asked)
        asked.unknown_fields = len(found.keys() - set(self._shape.__struct_fields__))
        unknown = unknown_field(found, self._shape) if self._is_strict else None
        if unknown is not None:
            raise ServiceError(self._codes[""], "unknown_field", field=unknown)
        return self.convert(found)

    def convert(self, found: Mapping[str, Any], *, texts: bool = False) -> Body:
        """Read fields; with ``texts`` a number may be written as a text."""
        given = {
            each.name: self._meant(each.name, found[each.name])
            for each in self._fields
            if not _is_absent(found, each)
        }
        try:
            return msgspec.convert(given, self._shape, strict=not texts)
        except msgspec.ValidationError as problem:
            reason, path = _told(str(problem))
            words = words_at(self._shape, path) if reason == "not_one_of" else ()
            raise self._refusal(reason, path, words) from problem

    def _document(self, asked: RawRequest) -> Mapping[str, Any]:
        """Read one JSON object; the reason stays, the code is ours."""
        try:
            return document(asked)
        except ServiceError as refusal:
            raise ServiceError(self._codes[""], refusal.reason) from refusal

    def _meant(self, name: str, value: object) -> object:
        """Convert a plain value, or an amount above zero from the number as written."""
        if name in self._as_sent:
            return value
        try:
            if name in self.amounts:
                return positive(value, name)
            return _plain(_known(value, self._parts[name]))
        except ServiceError as refusal:
            raise self._refusal(refusal.reason, name) from refusal
        except ValueError as problem:
            reason = "text_form" if isinstance(value, str) else "form"
            raise self._refusal(reason, name) from problem

    def _refusal(self, reason: str, field: str, words: Sequence[str] = ()) -> ServiceError:
        code = self._codes.get(reason, self._codes[""])
        return ServiceError(code, reason, field=field, words=words)


def _is_absent(found: Mapping[str, Any], each: msgspec.structs.FieldInfo) -> bool:
    if each.required or each.default is msgspec.UNSET:
        return missing(found, each.name)
    return found.get(each.name) is None


def _told(problem: str) -> tuple[str, str]:
    """Return msgspec's reason, and the path of the field; never the value."""
    absent, place = _MISSING.search(problem), _PLACE.search(problem)
    path = _INDEX.sub("", place[1]) if place else ""
    if absent is not None:
        return "missing", f"{path}.{absent[1]}" if path else absent[1]
    return next(word for begins, word in _WHY.items() if problem.startswith(begins)), path


def _known(value: object, shape: type[msgspec.Struct] | None) -> object:
    """Leave out unknown members of objects, at any depth: they are ignored, whatever they are."""
    if shape is None or shape.__struct_config__.forbid_unknown_fields:
        return value
    match value:
        case list():
            return [_known(each, shape) for each in value]
        case dict():
            parts = {each.name: _part(each.type) for each in msgspec.structs.fields(shape)}
            return {
                name: _known(each, parts[name]) for name, each in value.items() if name in parts
            }
        case _:
            return value


def _plain(value: object) -> object:
    """Return a plain value; ValueError for anything unusual."""
    match value:
        case str():
            return strict.plain_text(value)
        case Number():
            return strict.whole_number(value.text)
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {
                name: each if name in _AS_SENT else _plain(each)
                for name, each in value.items()
                if each is not None
            }
        case _:
            return value
