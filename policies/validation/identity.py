"""What identity and the panel's sign-in take: JSON of texts; any fault is VALIDATION_FAILED."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec

from gateway.domain.identity.errors import NOT_FOUND, VALIDATION_FAILED
from gateway.domain.kernel import strict
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Input, RawRequest
from policies.validation.fields import document

LONGEST: Final = 1024
"""Code points of a field; what a password may be is another question."""

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]
Secret = Annotated[
    str, msgspec.Meta(min_length=1, max_length=LONGEST, extra_json_schema={"format": "password"})
]
"""A password: any characters at all."""
Email = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST, examples=["ana@example.com"])]
Code = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST, examples=["123456"])]


class LoginBody(msgspec.Struct, frozen=True):
    """Who wants to sign in."""

    email: Email
    password: Secret


class MfaBody(msgspec.Struct, frozen=True):
    """The challenge and a code of the app, or a recovery code."""

    mfa_token: Text
    code: Code


class CodeBody(msgspec.Struct, frozen=True):
    """A code of the app, or a recovery code."""

    code: Code


class RefreshBody(msgspec.Struct, frozen=True):
    """A refresh token, which works once."""

    refresh_token: Text


class ForgotBody(msgspec.Struct, frozen=True):
    """Whose password was forgotten."""

    email: Email


class LinkBody(msgspec.Struct, frozen=True):
    """The token of a link in a mail, and the password to be."""

    token: Text
    password: Secret


class ChangeBody(msgspec.Struct, frozen=True):
    """The current password and the new one."""

    current_password: Secret
    new_password: Secret


class PasswordBody(msgspec.Struct, frozen=True):
    """The password, once more."""

    password: Secret


Body = TypeVar("Body", bound=msgspec.Struct)


def _input(body: type[Body]) -> Input[Body]:
    """Take a body of texts."""
    return Input(read=_reader(body), body=body, refuses=(VALIDATION_FAILED,))


def _reader(body: type[Body]) -> Callable[[RawRequest], Body]:
    names = body.__struct_fields__

    def read(asked: RawRequest) -> Body:
        found = _document(asked)
        asked.unknown_fields = len(found.keys() - set(names))
        return body(**{name: _text(found, name) for name in names})

    return read


def _document(asked: RawRequest) -> Mapping[str, Any]:
    """Read one JSON object; the reason stays, the code is identity's."""
    try:
        return document(asked)
    except ServiceError as refusal:
        raise ServiceError(VALIDATION_FAILED, refusal.reason) from refusal


def _text(found: Mapping[str, Any], name: str) -> str:
    """Read a field; an address is the same in any letter case."""
    value = found.get(name)
    if value is None or value == "":
        raise ServiceError(VALIDATION_FAILED, "missing", field=name)
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ServiceError(VALIDATION_FAILED, "text_form", field=name)
    return _email(value) if name == "email" else value


def _email(value: str) -> str:
    """Read what is typed as an address; whether anybody has it is not asked here."""
    typed = value.strip().lower()
    if not typed:
        raise ServiceError(VALIDATION_FAILED, "missing", field="email")
    try:
        return strict.plain_text(typed, LONGEST)
    except ValueError as problem:
        raise ServiceError(VALIDATION_FAILED, "text_form", field="email") from problem


def _session_id(asked: RawRequest) -> str:
    """Read the id of a session as lists show it; another form is nobody's."""
    try:
        return strict.plain_text(asked.path["session_id"], LONGEST).lower()
    except ValueError as problem:
        raise ServiceError(NOT_FOUND, "session") from problem


LOGIN: Final = _input(LoginBody)
MFA: Final = _input(MfaBody)
CODE: Final = _input(CodeBody)
REFRESH: Final = _input(RefreshBody)
FORGOT: Final = _input(ForgotBody)
LINK: Final = _input(LinkBody)
CHANGE: Final = _input(ChangeBody)
PASSWORD: Final = _input(PasswordBody)
SESSION_ID: Final[Input[str]] = Input(read=_session_id, refuses=(NOT_FOUND,))
