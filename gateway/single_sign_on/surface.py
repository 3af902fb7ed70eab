"""The surface for identity providers, which tell of the end of a person's session there."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypedDict

import msgspec

from gateway.core import errors
from gateway.core.calls import Input, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.priority import Priority
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.http.gates import BODY_BYTES, admit_anybody
from gateway.http.route import OK, Answer, Gate, Surface
from gateway.http.routing import Routes
from gateway.identity.surface import FAILS
from gateway.single_sign_on.sign_in import SingleSignOn
from policies.traffic.quota import WithinAddressQuota
from policies.validation.backoffice.inputs import of_path
from policies.validation.forms import read_form

NAME: Final = "single_sign_on"
PREFIX: Final = "/single-sign-on"
CHALLENGE: Final = 'Bearer realm="single-sign-on"'
_FORM: Final = "application/x-www-form-urlencoded"


class LogoutForm(msgspec.Struct):
    """What a provider posts (OpenID Connect Back-Channel Logout, part 2.5)."""

    logout_token: Annotated[str, meaning("Signed by the provider.", "eyJhbGciOiJFUzI1NiJ9")]


class EndedAtProvider(TypedDict):
    """The sessions are over."""

    status: Annotated[Literal["ok"], meaning("That they are.", "ok")]


def sign_on_surface(sign_on: SingleSignOn, quota: WithinAddressQuota) -> Surface:
    """Build the surface and its one gate."""
    routes = Routes(
        NAME,
        body_bytes=BODY_BYTES,
        needs=None,
        quota="keys",
        priority=Priority.STRANGERS,
        fails=FAILS,
        raises=(NOT_POSSIBLE, errors.AUTH_UNAVAILABLE),
        status=OK,
    )
    routes.post(
        "/{company_id}/logout",
        "logout",
        sign_on.end,
        takes={
            "company_id": of_path("company_id"),
            "token": Input(read=_token, body=LogoutForm, refuses=(NOT_POSSIBLE,)),
        },
        shows=_ended,
        summary="End the sessions that began by a session at a company's identity provider.",
    )
    gate = Gate(
        policies=(quota,),
        admits=admit_anybody,
        routes=routes.declared,
        opens="a provider has no credential of ours: its token is signed",
    )
    return Surface(
        name=NAME, prefix=PREFIX, gates=(gate,), challenge=CHALLENGE, body_bytes=BODY_BYTES
    )


def _token(asked: RawRequest) -> str:
    media = (asked.content_type or "").partition(";")[0].strip().lower()
    if media != _FORM:
        raise ServiceError(NOT_POSSIBLE, "logout_token")
    return read_form(asked).exactly("logout_token")


def _ended(_done: None, _who: None) -> Answer[EndedAtProvider]:
    """Answer as the standard says: 200, never stored."""
    return Answer(content={"status": "ok"}, headers={"Cache-Control": "no-store"})
