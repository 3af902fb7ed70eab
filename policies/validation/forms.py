"""Forms of the panel's pages: fields by name, as a browser sends them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

import msgspec

from gateway.core import errors
from gateway.core.calls import Input, RawRequest
from gateway.core.errors import ServiceError

_FIELDS: Final = 200
"""More than the largest form has, the matrix of permissions included."""


class FormBody(msgspec.Struct):
    """Fields of every form."""

    csrf_token: str


MULTIPART: Final = "multipart/form-data"
_BOUNDARY: Final = re.compile(
    rf"{MULTIPART}; *boundary=\"?([0-9A-Za-z'()+_,./:=?-]{{1,70}})\"?", re.IGNORECASE
)
_PART: Final = re.compile(
    r'content-disposition: form-data; name="([^"\r\n]*)"(?:; filename="([^"\r\n]*)")?',
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of a form: its name as the browser sent it, and its bytes."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """
    The typed fields of a form.

    Attributes:
        values: Every value of every field, in order, as it was sent.
        files: The files, by field; a browser cannot be given one back.
    """

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, SentFile] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        """Return a field's first value without blanks around it; an absent field is empty."""
        return self.exactly(name).strip()

    def exactly(self, name: str) -> str:
        """Return a field's first value as it was sent: a password may end with a blank."""
        return self.values.get(name, ("",))[0]

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of a field."""
        return self.values.get(name, ())

    def without(self, *names: str) -> Form:
        """Return the form without these fields, which must not be shown again."""
        return Form({name: each for name, each in self.values.items() if name not in names})


EMPTY: Final = Form()


def read_form(asked: RawRequest) -> Form:
    """
    Read a form's fields.

    Raises:
        ServiceError: ``SVC.VAL.011`` for bytes that are no form of ours.
    """
    values: dict[str, tuple[str, ...]] = {}
    try:
        text = asked.body.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_FIELDS)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, "form") from problem
    for name, value in pairs:
        values[name] = (*values.get(name, ()), value)
    return Form(values)


def read_file_form(asked: RawRequest) -> Form:
    """
    Read a form's fields and files.

    Raises:
        ServiceError: ``SVC.VAL.011`` for bytes that are no such form of ours.
    """
    values: dict[str, tuple[str, ...]] = {}
    files: dict[str, SentFile] = {}
    try:
        for name, file, content in _parts(asked.content_type or "", asked.body):
            if file is None:
                values[name] = (*values.get(name, ()), content.decode("utf-8"))
            elif name not in files:
                files[name] = SentFile(file, content)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, "form") from problem
    return Form(values, files)


def _parts(media: str, body: bytes) -> Iterator[tuple[str, str | None, bytes]]:
    """Yield name, file name and content of each part (RFC 7578); ValueError for another body."""
    found = _BOUNDARY.fullmatch(media)
    if found is None:
        raise ValueError(MULTIPART)
    before, *parts, after = (b"\r\n" + body).split(b"\r\n--" + found[1].encode())
    if before or not after.startswith(b"--") or len(parts) > _FIELDS:
        raise ValueError(MULTIPART)
    for each in parts:
        head, blank, content = each.partition(b"\r\n\r\n")
        named = next(filter(None, map(_PART.fullmatch, head.decode("utf-8").split("\r\n"))), None)
        if not blank or named is None:
            raise ValueError(MULTIPART)
        yield named[1], named[2], content


FORM: Final[Input[Form]] = Input(read=read_form, body=FormBody, refuses=(errors.PAYLOAD_INVALID,))
FILE_FORM: Final[Input[Form]] = Input(
    read=read_file_form, body=FormBody, refuses=(errors.PAYLOAD_INVALID,)
)
