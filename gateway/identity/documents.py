"""Bodies and documents of sign-ins and of the caller's own account (contract 2.9, 4.2)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, TypeVar, cast

import msgspec
from msgspec import Meta

from gateway.core import fields, strict
from gateway.core.approvals import Approval
from gateway.core.calls import Input, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.schemas import instant, one_of
from gateway.core.sessions import Session, SignedInUser
from gateway.core.user_errors import NOT_FOUND, VALIDATION_FAILED
from gateway.http.common import Total
from gateway.http.gates import AnonymousCaller, SignedInCaller
from gateway.http.route import Answer
from gateway.http.routing import WAITS
from gateway.identity.model import Passkey
from gateway.identity.passkeys import NewPasskey, PasskeyName
from gateway.identity.reauthentication import LONGEST, CurrentPassword, Proof
from gateway.identity.second_factors import Enrolment
from gateway.identity.sessions import SignedIn, TokenPair
from gateway.identity.sign_in import SecondFactorRequired
from gateway.identity.webauthn import (
    Assertion,
    AssertionOptions,
    RegistrationOptions,
)
from policies.validation.bodies import body, read_fields

Epoch = Annotated[int, meaning("Seconds since 1970-01-01T00:00:00Z.", ge=0)]
Instant = Annotated[
    str,
    Meta(
        description="RFC 3339 in UTC",
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$",
        examples=["2026-09-22T13:40:11Z"],
    ),
]
PublicId = Annotated[
    str,
    Meta(
        description="Identifies a session in lists; it is no credential.",
        pattern=r"^[0-9a-f]{12}$",
        examples=["0f1e2d3c4b5a"],
    ),
]


class UserDocument(TypedDict):
    """The signed-in user."""

    id: fields.Id
    name: fields.PersonName
    email: fields.Email
    roles: fields.Roles


class OwnSessionDocument(TypedDict):
    """One of the caller's sessions; ``current`` marks this request's session."""

    id: PublicId
    current: Annotated[bool, meaning("Whether it is the session that asks.")]
    panel: fields.IsPanel
    created_at: Instant
    seen_at: Instant
    expires_at: Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_113_211})]
    address: fields.IpAddress
    user_agent: fields.UserAgent


class OwnSessionsDocument(TypedDict):
    """The caller's sessions, oldest first."""

    data: Annotated[list[OwnSessionDocument], meaning("The rows of this page.")]
    meta: Total


class EnrolmentDocument(TypedDict):
    """An authenticator app that is being enrolled; shown once. ``qr_svg`` may be empty."""

    secret: Annotated[
        str,
        meaning(
            "The shared secret, for an app that takes no link; in this answer alone.",
            "JBSWY3DPEHPK3PXP",
        ),
    ]
    otpauth_uri: Annotated[
        str,
        meaning(
            "For the authenticator app, as a link.",
            "otpauth://totp/pixgate:ana%40example.com?secret=JBSWY3DPEHPK3PXP",
        ),
    ]
    qr_svg: Annotated[
        str,
        meaning(
            "The same as a QR code, an SVG picture.", '<svg xmlns="http://www.w3.org/2000/svg"/>'
        ),
    ]


class RecoveryCodesDocument(TypedDict):
    """Ten recovery codes; each works once, and all are shown once."""

    recovery_codes: Annotated[
        list[str],
        meaning(
            "Each works once in place of the app; shown in this answer alone.", ["7k3m-9qwd-2xfp"]
        ),
    ]


class PasskeyDocument(TypedDict):
    """One of the caller's passkeys."""

    id: Annotated[str, meaning("Identifies the passkey in lists.", fields.ID)]
    name: PasskeyName
    created_at: Instant
    used_at: Annotated[str, meaning("When it was used last; empty for never.", "")]


class PasskeysDocument(TypedDict):
    """The caller's passkeys, oldest first."""

    data: Annotated[list[PasskeyDocument], meaning("Every passkey.")]
    meta: Total


class RegisteredDocument(TypedDict):
    """A passkey was registered."""

    recovery_codes: Annotated[
        list[str],
        meaning(
            "With the first second factor ten recovery codes, shown in this answer alone; else"
            " none.",
            ["7k3m-9qwd-2xfp"],
        ),
    ]


class FreshDocument(TypedDict):
    """Until when the second factor counts as recent."""

    expires_at: Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_084_711})]


class AcceptedDocument(TypedDict):
    """The answer does not reveal whether the user exists."""

    status: Annotated[Literal["accepted"], meaning("The state that it is in.")]


AccessToken = Annotated[
    str,
    meaning(
        "Send it as `Authorization: Bearer ...`; it is valid for some minutes.",
        "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI2ZjFjIn0.c2lnbmF0dXJl",
    ),
]
MfaToken = Annotated[
    str,
    meaning(
        "Names the sign-in that waits for a second factor.",
        "mfa_the-challenge-is-good-for-five-minutes",
    ),
]
RefreshToken = Annotated[
    str, meaning("Buys the next access token, once.", "rt_the-token-works-once")
]


class TokensDocument(TypedDict):
    """A pair of tokens; shown once."""

    access_token: AccessToken
    refresh_token: RefreshToken
    token_type: Annotated[Literal["Bearer"], meaning("Always `Bearer`.")]
    expires_at: Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_085_011})]
    refresh_expires_at: Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_113_211})]


class SignedInDocument(TokensDocument):
    """The tokens of a sign-in, and its user."""

    user: UserDocument
    mfa_required: Annotated[
        Literal[False], meaning("Whether a second factor is asked for: `true` until it is given.")
    ]


class FactorAskedDocument(TypedDict):
    """A second factor is required; the challenge is valid for five minutes."""

    mfa_required: Annotated[
        Literal[True], meaning("Whether a second factor is asked for: `true` until it is given.")
    ]
    mfa_token: MfaToken


@one_of(SignedInDocument, FactorAskedDocument)
class LoginDocument(TypedDict):
    """The tokens of a sign-in; or only ``mfa_required: true`` with ``mfa_token``."""

    mfa_required: Annotated[
        bool, meaning("Whether a second factor is asked for: `true` until it is given.")
    ]
    mfa_token: NotRequired[MfaToken]
    access_token: NotRequired[AccessToken]
    refresh_token: NotRequired[RefreshToken]
    token_type: NotRequired[Annotated[Literal["Bearer"], meaning("Always `Bearer`.")]]
    expires_at: NotRequired[Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_085_011})]]
    refresh_expires_at: NotRequired[
        Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_085_011})]
    ]
    user: NotRequired[UserDocument]


class KeyDocument(TypedDict):
    """The public half of a key that signs access tokens (RFC 8037)."""

    kty: Annotated[Literal["OKP"], meaning("Always `OKP`.")]
    crv: Annotated[Literal["Ed25519"], meaning("Always `Ed25519`.")]
    x: Annotated[str, meaning("The public key.", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")]
    kid: Annotated[str, meaning("Id of the key, as in the header of a token.", "2026-11-a")]
    use: Annotated[Literal["sig"], meaning("Always `sig`.")]
    alg: Annotated[Literal["EdDSA"], meaning("Always `EdDSA`.")]


class KeySetDocument(TypedDict):
    """The keys in use, including the next one (RFC 7517)."""

    keys: Annotated[list[KeyDocument], meaning("The public keys that sign access tokens.")]


# pixels per module: a phone's camera reads the code from the screen
_SCALE = 4


def epoch(at: datetime) -> int:
    """Write an instant as whole seconds since 1970 (contract 2.9)."""
    return int(at.timestamp())


def user(who: SignedInUser) -> UserDocument:
    """Show a user."""
    return {
        "id": who.user_id,
        "name": who.name,
        "email": who.email,
        "roles": sorted(who.roles),
    }


def own_sessions(found: Sequence[Session], who: SignedInCaller) -> OwnSessionsDocument:
    """Show the caller's sessions."""
    data = [own_session(each, who.person) for each in found]
    return {"data": data, "meta": {"total": len(data)}}


def enrolment(begun: Enrolment, _who: SignedInCaller) -> EnrolmentDocument:
    """Show the secret for an authenticator app, to type or to scan."""
    return {"secret": begun.secret, "otpauth_uri": begun.uri, "qr_svg": qr_svg(begun.uri)}


def recovery_codes(made: Sequence[str], _who: SignedInCaller) -> RecoveryCodesDocument:
    """Show new recovery codes."""
    return {"recovery_codes": list(made)}


def passkeys(found: Sequence[Passkey], _who: SignedInCaller) -> PasskeysDocument:
    """Show the caller's passkeys."""
    data: list[PasskeyDocument] = [
        {
            "id": each.id,
            "name": each.name,
            "created_at": instant(each.created_at),
            "used_at": instant(each.used_at),
        }
        for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}


def assertion_options(
    made: AssertionOptions, _who: AnonymousCaller | SignedInCaller
) -> AssertionOptions:
    """Show the options that ask for a passkey."""
    return made


def registration_options(made: RegistrationOptions, _who: SignedInCaller) -> RegistrationOptions:
    """Show the options that ask for a new passkey."""
    return made


def registered(codes: Sequence[str], _who: SignedInCaller) -> RegisteredDocument:
    """Show the recovery codes of a first passkey."""
    return {"recovery_codes": list(codes)}


def recovery_codes_and_logout(
    made: Sequence[str], who: SignedInCaller
) -> Answer[RecoveryCodesDocument]:
    """Show new recovery codes, and end the browser's session."""
    return Answer(content=recovery_codes(made, who), headers=who.logout_headers)


def fresh(until: datetime, _who: SignedInCaller) -> FreshDocument:
    """Show until when the factor counts as recent."""
    return {"expires_at": epoch(until)}


def accepted(_done: None, _who: AnonymousCaller) -> AcceptedDocument:
    """Show that the request was accepted, with any outcome."""
    return {"status": "accepted"}


def done(_done: object, _who: AnonymousCaller | SignedInCaller) -> Answer[None]:
    """Answer without a body."""
    return Answer(content=None)


def ended(_done: None, who: SignedInCaller) -> Answer[None]:
    """Answer without a body, and end the browser's session."""
    return Answer(content=None, headers=who.logout_headers)


def ended_or_waits(order: Approval | None, who: SignedInCaller) -> Answer[None]:
    """End the browser's session; or show the order that another person has to approve."""
    if order is None:
        return ended(None, who)
    return Answer(content=cast("None", order.document), status=WAITS)


def own_session(found: Session, caller: SignedInUser) -> OwnSessionDocument:
    """Show a session to its owner."""
    return {
        "id": found.public_id,
        "current": found.id == caller.session_id,
        "panel": found.panel,
        "created_at": instant(found.created_at),
        "seen_at": instant(found.seen_at),
        "expires_at": epoch(found.ends_at),
        "address": found.address,
        "user_agent": found.user_agent,
    }


def qr_svg(uri: str) -> str:
    """Draw a QR code as SVG; empty without the extra ``panel``: the URI is enough to enrol."""
    try:
        import segno  # noqa: PLC0415 - enrolling is rare, and importing it slows every start
    except ImportError:
        return ""
    drawn = io.BytesIO()
    segno.make(uri, micro=False).save(drawn, kind="svg", scale=_SCALE, xmldecl=False)
    return drawn.getvalue().decode()


_KEYS_CACHED = {"Cache-Control": "public, max-age=300"}


def login(outcome: SignedIn | SecondFactorRequired, who: AnonymousCaller) -> LoginDocument:
    """Show a sign-in, or that a code is required without naming the user (contract 2.9)."""
    if isinstance(outcome, SecondFactorRequired):
        return {"mfa_required": True, "mfa_token": outcome.mfa_token}
    return cast("LoginDocument", signed_in(outcome, who))


def signed_in(outcome: SignedIn, who: AnonymousCaller) -> SignedInDocument:
    """Show a sign-in."""
    shown = tokens(outcome.tokens, who)
    return {**shown, "user": user(outcome.person), "mfa_required": False}


def tokens(pair: TokenPair, _who: AnonymousCaller) -> TokensDocument:
    """Show a pair of tokens."""
    return {
        "access_token": pair.access_token,
        "refresh_token": pair.refresh_token,
        "token_type": "Bearer",
        "expires_at": epoch(pair.expires_at),
        "refresh_expires_at": epoch(pair.refresh_expires_at),
    }


def keys(published: dict[str, object], _who: None) -> Answer[KeySetDocument]:
    """Show the keys, which clients may cache for five minutes."""
    return Answer(content=cast("KeySetDocument", published), headers=_KEYS_CACHED)


Text = Annotated[str, Meta(min_length=1, max_length=LONGEST)]
Secret = Annotated[
    str, Meta(min_length=1, max_length=LONGEST, extra_json_schema={"format": "password"})
]
"""A password: any characters at all."""
Email = Annotated[str, Meta(min_length=1, max_length=LONGEST, examples=["ana@example.com"])]
Code = Annotated[str, Meta(min_length=1, max_length=LONGEST, examples=["123456"])]
OptionalCode = Annotated[str, Meta(max_length=LONGEST)]


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


class PasskeyOptionsBody(msgspec.Struct, frozen=True):
    """The sign-in that waits for a second factor, if a password was given."""

    mfa_token: Annotated[
        str,
        meaning(
            "Names the sign-in that waits for a second factor; absent without a password.",
            "mfa_the-challenge-is-good-for-five-minutes",
            max_length=LONGEST,
        ),
    ] = ""


class PasskeyBody(msgspec.Struct, frozen=True):
    """A use of a passkey."""

    passkey: Annotated[Assertion, meaning("The answer to options that were asked for here.")]


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


class ChangeBody(msgspec.Struct, frozen=True, kw_only=True):
    """The new password, and the current one or a passkey."""

    current_password: CurrentPassword = ""
    new_password: Annotated[Secret, meaning("The new password.", "outra frase bem comprida")]
    code: Annotated[
        OptionalCode,
        meaning(
            "The newest code of the authenticator app, for a user with a second factor.", "123456"
        ),
    ] = ""
    passkey: Annotated[
        Assertion | None, meaning("A passkey of the user, in place of password and code.")
    ] = None


Body = TypeVar("Body", bound=msgspec.Struct)


def _input(shape: type[Body]) -> Input[Body]:
    """Take a body of texts as they were sent; an address is the same in any letter case."""
    taken = body(shape, as_sent=shape.__struct_fields__)
    if "email" not in shape.__struct_fields__:
        return taken
    return replace(taken, read=lambda asked: _with_address(taken.read(asked)))


def typed(shape: type[Body], **fields: str) -> Body:
    """Read a body from typed fields, by the same rules."""
    found = read_fields(shape, fields, as_sent=shape.__struct_fields__)
    return _with_address(found) if "email" in fields else found


def _with_address(found: Any) -> Any:  # noqa: ANN401 - a body with a field ``email``
    return msgspec.structs.replace(found, email=_email(found.email))


def _email(value: str) -> str:
    """Read a typed e-mail address; its user is not looked up here."""
    typed = value.strip().lower()
    if not typed:
        raise ServiceError(VALIDATION_FAILED, "missing", field="email")
    try:
        return strict.plain_text(typed, LONGEST)
    except ValueError as problem:
        raise ServiceError(VALIDATION_FAILED, "text_form", field="email") from problem


def _session_id(asked: RawRequest) -> dict[str, str]:
    """Read the id of a session as lists show it; another form matches no session."""
    try:
        return {"session_id": strict.plain_text(asked.path["session_id"], LONGEST).lower()}
    except ValueError as problem:
        raise ServiceError(NOT_FOUND, "session") from problem


LOGIN: Final = _input(LoginBody)
MFA: Final = _input(MfaBody)
CODE: Final = _input(CodeBody)
PASSKEY_OPTIONS: Final = _input(PasskeyOptionsBody)
PASSKEY: Final = _input(PasskeyBody)
REGISTRATION: Final = _input(NewPasskey)
REFRESH: Final = _input(RefreshBody)
FORGOT: Final = _input(ForgotBody)
LINK: Final = _input(LinkBody)
CHANGE: Final = _input(ChangeBody)
# every field may be absent, but not all of them
PROOF: Final = replace(_input(Proof), may_be_absent=False)
SESSION_ID: Final[Input[dict[str, str]]] = Input(read=_session_id, refuses=(NOT_FOUND,))
