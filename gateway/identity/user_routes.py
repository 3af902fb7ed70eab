"""Rows of sign-ins and of one's own account (contract 4.2), which the panel shares."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Generic, TypedDict, TypeVar, Unpack

import msgspec

from gateway.core import errors
from gateway.core.calls import Input
from gateway.core.catalogue import ErrorCode
from gateway.core.storage import StoreUnavailable
from gateway.core.user_errors import (
    MFA_EXPIRED,
    MFA_INVALID,
    NOT_FOUND,
    NOT_POSSIBLE,
    PASSWORD_WRONG,
    REFRESH_INVALID,
    STEP_UP_REQUIRED,
    TOKEN_INVALID,
    TOO_MANY_ATTEMPTS,
)
from gateway.http.callers import AnonymousCaller, SignedInCaller
from gateway.http.people import BODY_BYTES
from gateway.http.route import OK, Answer, Row, RowLimits, content_of, route
from gateway.identity import representation as represent
from gateway.identity.bodies import (
    CHANGE,
    CODE,
    FORGOT,
    LINK,
    LOGIN,
    MFA,
    PASSWORD,
    REFRESH,
    SESSION_ID,
)
from gateway.identity.services import IdentityServices
from policies.traffic.quota import PERSON
from policies.validation.inputs import NOTHING

Who = TypeVar("Who", AnonymousCaller, SignedInCaller)
Does = Callable[..., Awaitable[Any]]
Shows = Callable[..., Any]

# a password of 128 code points and a token take less than 2 KiB
SIGN_IN = RowLimits("sign_in", BODY_BYTES)
SECOND_FACTOR = RowLimits("second_factor", BODY_BYTES)
RECOVERY = RowLimits("recovery", BODY_BYTES)
LEAVING = RowLimits("leaving", 0)
"""Signing out is never refused by a quota."""
_OWN = RowLimits(PERSON, 0)
_OWN_BODY = RowLimits(PERSON, BODY_BYTES)
NO_CONTENT = 204
ACCEPTED = 202
FAILS: dict[type[Exception], ErrorCode] = {StoreUnavailable: errors.AUTH_UNAVAILABLE}
"""Without the store nobody can be authenticated: 503 on every row."""
_PARTS: Final = {"caller": "person", "client": "client", "browser": "browser"}
"""Which part of a call each parameter of a method is given."""


class Shape(TypedDict, total=False):
    """
    What a row declares beside its method.

    Attributes:
        takes: How the body is read, whose fields are parameters of the method.
        limits: Those of the own account where they are absent.
        raises: Codes of the method itself.
        status: 204 where it is absent and the answer has no content.
    """

    takes: Input[Any]
    limits: RowLimits
    raises: Sequence[ErrorCode]
    status: int


class AuthRows(Generic[Who]):
    """
    Rows that run one method of a service each.

    A method is given the caller, client or browser of the call if it has a parameter of that
    name, and the fields of the body. The first paragraph of its docstring is the summary.
    """

    def __init__(self, surface: str) -> None:
        self._surface = surface
        self.rows: list[Row[Who]] = []

    def get(self, path: str, name: str, does: Does, shows: Shows, **shape: Unpack[Shape]) -> None:
        """Read."""
        self._add("GET", path, name, does, shows, shape)

    def post(self, path: str, name: str, does: Does, shows: Shows, **shape: Unpack[Shape]) -> None:
        """Do."""
        self._add("POST", path, name, does, shows, shape)

    def delete(
        self, path: str, name: str, does: Does, shows: Shows, **shape: Unpack[Shape]
    ) -> None:
        """End what the path names."""
        self._add("DELETE", path, name, does, shows, shape)

    def _add(  # noqa: PLR0913, PLR0917 - the cells of a row
        self, method: str, path: str, name: str, does: Does, shows: Shows, shape: Shape
    ) -> None:
        takes = shape.get("takes", NOTHING)
        is_empty = content_of(typing.get_type_hints(shows)["return"]) is type(None)
        summary = (inspect.getdoc(does) or "").partition("\n\n")[0]
        self.rows.append(
            route(
                method,
                f"/auth{path}",
                name=f"{self._surface}.{name}",
                summary=" ".join(summary.split()),
                needs=None,
                limits=shape.get("limits", _OWN if takes.body is None else _OWN_BODY),
                takes=takes,
                runs=_runs(does),
                shows=shows,
                fails=FAILS,
                raises=shape.get("raises", ()),
                status=shape.get("status", NO_CONTENT if is_empty else OK),
            )
        )


def _runs(does: Does) -> Does:
    """Return what calls a method with the parts of the call that it names."""
    parts = inspect.signature(does).parameters.keys() & _PARTS.keys()

    async def run(who: AnonymousCaller | SignedInCaller, taken: Any) -> Any:  # noqa: ANN401 - of any method
        fields = msgspec.structs.asdict(taken) if isinstance(taken, msgspec.Struct) else taken
        given = {name: getattr(who, _PARTS[name]) for name in parts}
        return await does(**given, **(fields or {}))

    return run


def recovery_rows(
    surface: str, services: IdentityServices, shows: Callable[[str, AnonymousCaller], Answer[None]]
) -> Sequence[Row[AnonymousCaller]]:
    """Return the rows for users who cannot sign in; ``shows`` renders the use of a link."""
    rows = AuthRows[AnonymousCaller](surface)
    passwords = services.passwords
    link: Shape = {
        "takes": LINK,
        "limits": RECOVERY,
        "raises": (NOT_POSSIBLE, TOO_MANY_ATTEMPTS),
    }
    rows.post(
        "/password/forgot",
        "password_forgot",
        passwords.forgot,
        represent.accepted,
        takes=FORGOT,
        limits=RECOVERY,
        raises=(TOO_MANY_ATTEMPTS,),
        status=ACCEPTED,
    )
    rows.post("/password/reset", "password_reset", passwords.reset, shows, **link)
    rows.post(
        "/invitations/accept", "invitation_accept", passwords.accept_invitation, shows, **link
    )
    return rows.rows


def account_rows(surface: str, services: IdentityServices) -> Sequence[Row[SignedInCaller]]:
    """Return the rows for one's own sessions, password and second factor."""
    rows = AuthRows[SignedInCaller](surface)
    sessions, factors = services.sessions, services.second_factors
    by_id: Shape = {"takes": SESSION_ID, "raises": (NOT_FOUND,)}
    rows.get("/sessions", "sessions", sessions.list, represent.own_sessions)
    rows.delete("/sessions/{session_id}", "session_end", sessions.end, represent.done, **by_id)
    rows.delete("/sessions", "sessions_end", sessions.end_others, represent.done)
    rows.post(
        "/password/change",
        "password_change",
        services.passwords.change,
        represent.ended,
        takes=CHANGE,
        raises=(PASSWORD_WRONG, NOT_POSSIBLE, TOO_MANY_ATTEMPTS),
    )
    rows.post(
        "/totp",
        "totp_begin",
        factors.begin,
        represent.enrolment,
        takes=PASSWORD,
        raises=(PASSWORD_WRONG, NOT_POSSIBLE, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
    )
    rows.post(
        "/totp/confirm",
        "totp_confirm",
        factors.confirm,
        represent.recovery_codes_and_logout,
        takes=CODE,
        raises=(MFA_INVALID, NOT_POSSIBLE, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
    )
    rows.delete(
        "/totp",
        "totp_remove",
        factors.remove,
        represent.ended,
        raises=(STEP_UP_REQUIRED, NOT_POSSIBLE, TOKEN_INVALID),
    )
    rows.post(
        "/recovery-codes",
        "recovery_codes",
        factors.new_recovery_codes,
        represent.recovery_codes,
        raises=(STEP_UP_REQUIRED, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
    )
    return rows.rows


def sign_in_rows(services: IdentityServices) -> Sequence[Row[AnonymousCaller]]:
    """Return the rows that are called without a token."""
    rows = AuthRows[AnonymousCaller]("identity")
    rows.post(
        "/login",
        "login",
        services.sign_in.login,
        represent.login,
        takes=LOGIN,
        limits=SIGN_IN,
        raises=(PASSWORD_WRONG, TOO_MANY_ATTEMPTS),
    )
    rows.post(
        "/mfa",
        "mfa",
        services.sign_in.submit_code,
        represent.signed_in,
        takes=MFA,
        limits=SECOND_FACTOR,
        raises=(MFA_INVALID, MFA_EXPIRED, PASSWORD_WRONG, TOO_MANY_ATTEMPTS),
    )
    rows.post(
        "/refresh",
        "refresh",
        services.tokens.refresh,
        represent.tokens,
        takes=REFRESH,
        limits=RowLimits("anonymous", BODY_BYTES),
        raises=(REFRESH_INVALID,),
    )
    return rows.rows


def token_rows(services: IdentityServices) -> Sequence[Row[SignedInCaller]]:
    """Return the rows for the session of a token, which the panel has in another form."""
    rows, factors = AuthRows[SignedInCaller]("identity"), services.second_factors
    asks: Shape = {
        "takes": CODE,
        "raises": (MFA_INVALID, STEP_UP_REQUIRED, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
    }
    rows.delete("/logout", "logout", services.sessions.logout, represent.done, limits=LEAVING)
    rows.post("/step-up", "step_up", factors.step_up, represent.fresh, **asks)
    return rows.rows


def key_row(published: Callable[[], Awaitable[dict[str, object]]]) -> Row[None]:
    """Return the row of the public keys; ``published`` returns the JWK set of those in use."""

    async def read(_who: None, _taken: None) -> dict[str, object]:
        return await published()

    return route(
        "GET",
        "/jwks.json",
        name="keys.jwks",
        summary="The public keys of access tokens.",
        needs=None,
        limits=RowLimits("keys", 0),
        takes=NOTHING,
        runs=read,
        shows=represent.keys,
        fails=FAILS,
        raises=(),
    )
