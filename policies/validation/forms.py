"""Forms of the panel's pages: fields by name, as a browser sends them."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class Form:
    """
    The typed fields of a form.

    Attributes:
        values: Every value of every field, in order, as it was sent.
    """

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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


FORM: Final[Input[Form]] = Input(read=read_form, body=FormBody, refuses=(errors.PAYLOAD_INVALID,))
