"""What identity and the panel's sign-in take: JSON of texts; any fault is VALIDATION_FAILED."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final, TypeVar

import msgspec

from gateway.core import strict
from gateway.core.calls import Input, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.user_errors import NOT_FOUND, VALIDATION_FAILED
from policies.validation.bodies import body, read_fields

LONGEST: Final = 1024
"""Code points of a field; what a password may be is another question."""

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]
Secret = Annotated[
    str, msgspec.Meta(min_length=1, max_length=LONGEST, extra_json_schema={"format": "password"})
]
"""A password: any characters at all."""
Email = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST, examples=["ana@example.com"])]
Code = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST, examples=["123456"])]


Password = Annotated[Secret, meaning("The password.", "uma frase bem comprida")]


class LoginBody(msgspec.Struct, frozen=True):
    """Who wants to sign in."""

    email: Annotated[Email, meaning("The user's e-mail address.")]
    password: Password


class MfaBody(msgspec.Struct, frozen=True):
    """The challenge and a code of the app, or a recovery code."""

    mfa_token: Annotated[
        Text,
        meaning(
            "Names the sign-in that waits for a second factor.",
            "mfa_the-challenge-is-good-for-five-minutes",
        ),
    ]
    code: Annotated[Code, meaning("Six digits of the authenticator app, or a recovery code.")]


class CodeBody(msgspec.Struct, frozen=True):
    """A code of the app, or a recovery code."""

    code: Annotated[Code, meaning("Six digits of the authenticator app, or a recovery code.")]


class RefreshBody(msgspec.Struct, frozen=True):
    """A refresh token, which works once."""

    refresh_token: Annotated[
        Text, meaning("Buys the next access token, once.", "rt_the-token-works-once")
    ]


class ForgotBody(msgspec.Struct, frozen=True):
    """Whose password was forgotten."""

    email: Annotated[Email, meaning("The user's e-mail address.")]


class LinkBody(msgspec.Struct, frozen=True):
    """The token of a link in a mail, and the password to be."""

    token: Annotated[Text, meaning("What the link in the mail holds.", "lnk_the-link-is-good-once")]
    password: Password


class ChangeBody(msgspec.Struct, frozen=True):
    """The current password and the new one."""

    current_password: Annotated[
        Secret, meaning("The password that is valid now.", "uma frase bem comprida")
    ]
    new_password: Annotated[Secret, meaning("The new password.", "outra frase bem comprida")]


class PasswordBody(msgspec.Struct, frozen=True):
    """The password, once more."""

    password: Password


Body = TypeVar("Body", bound=msgspec.Struct)


def _input(shape: type[Body]) -> Input[Body]:
    """Take a body of texts as they were sent; an address is the same in any letter case."""
    taken = body(shape, as_sent=shape.__struct_fields__)
    if "email" not in shape.__struct_fields__:
        return taken
    return replace(taken, read=lambda asked: _with_address(taken.read(asked)))


def typed(shape: type[Body], **fields: str) -> Body:
    """Read a body from what somebody typed, by the same rules."""
    found = read_fields(shape, fields, as_sent=shape.__struct_fields__)
    return _with_address(found) if "email" in fields else found


def _with_address(found: Any) -> Any:  # noqa: ANN401 - a body with a field ``email``
    return msgspec.structs.replace(found, email=_email(found.email))


def _email(value: str) -> str:
    """Read what is typed as an address; whether anybody has it is not asked here."""
    typed = value.strip().lower()
    if not typed:
        raise ServiceError(VALIDATION_FAILED, "missing", field="email")
    try:
        return strict.plain_text(typed, LONGEST)
    except ValueError as problem:
        raise ServiceError(VALIDATION_FAILED, "text_form", field="email") from problem


def _session_id(asked: RawRequest) -> dict[str, str]:
    """Read the id of a session as lists show it; another form is nobody's."""
    try:
        return {"session_id": strict.plain_text(asked.path["session_id"], LONGEST).lower()}
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
SESSION_ID: Final[Input[dict[str, str]]] = Input(read=_session_id, refuses=(NOT_FOUND,))
