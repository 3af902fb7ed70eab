"""Identity's rows (contract 4.2), and those of one's own account, which the panel shares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from gateway.domain.identity.errors import (
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
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.http.identity import represent
from gateway.http.identity.actions import AccountActions, RecoveryActions, SignInActions
from gateway.http.identity.callers import AnonymousCaller, SignedInCaller
from gateway.http.route import Answer, Row, RowLimits, route
from policies.traffic.quota import PERSON
from policies.validation.identity import (
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
from policies.validation.inputs import NOTHING

# a password of 128 code points and a token take less than 2 KiB
BODY_BYTES = 16 * 1024
SIGN_IN = RowLimits("sign_in", BODY_BYTES)
SECOND_FACTOR = RowLimits("second_factor", BODY_BYTES)
_RECOVERY = RowLimits("recovery", BODY_BYTES)
OWN = RowLimits(PERSON, 0)
OWN_BODY = RowLimits(PERSON, BODY_BYTES)
LEAVING = RowLimits("leaving", 0)
"""Signing out is never refused by a quota."""
NO_CONTENT = 204
ACCEPTED = 202
FAILS: dict[type[Exception], ErrorCode] = {StoreUnavailable: errors.AUTH_UNAVAILABLE}
"""Without the store nobody can be authenticated: 503 on every row."""


def recovery_rows(
    surface: str, actions: RecoveryActions, shows: Callable[[str, AnonymousCaller], Answer[None]]
) -> Sequence[Row[AnonymousCaller]]:
    """Return the rows for users who cannot sign in; ``shows`` renders the use of a link."""
    return (
        route(
            "POST",
            "/auth/password/forgot",
            name=f"{surface}.password_forgot",
            summary="Request a reset link by mail; the answer never tells whether the user exists.",
            needs=None,
            limits=_RECOVERY,
            takes=FORGOT,
            runs=actions.forgot,
            shows=represent.accepted,
            fails=FAILS,
            raises=(TOO_MANY_ATTEMPTS,),
            status=ACCEPTED,
        ),
        route(
            "POST",
            "/auth/password/reset",
            name=f"{surface}.password_reset",
            summary="Set a new password with the token of a reset link; every session ends.",
            needs=None,
            limits=_RECOVERY,
            takes=LINK,
            runs=actions.reset,
            shows=shows,
            fails=FAILS,
            raises=(NOT_POSSIBLE, TOO_MANY_ATTEMPTS),
            status=NO_CONTENT,
        ),
        route(
            "POST",
            "/auth/invitations/accept",
            name=f"{surface}.invitation_accept",
            summary="Set the first password with the token of an invitation link.",
            needs=None,
            limits=_RECOVERY,
            takes=LINK,
            runs=actions.accept,
            shows=shows,
            fails=FAILS,
            raises=(NOT_POSSIBLE, TOO_MANY_ATTEMPTS),
            status=NO_CONTENT,
        ),
    )


def account_rows(surface: str, actions: AccountActions) -> Sequence[Row[SignedInCaller]]:
    """Return the rows for one's own sessions and password."""
    return (
        route(
            "GET",
            "/auth/sessions",
            name=f"{surface}.sessions",
            summary="List your own sessions, oldest first.",
            needs=None,
            limits=OWN,
            takes=NOTHING,
            runs=actions.sessions,
            shows=represent.own_sessions,
            fails=FAILS,
            raises=(),
        ),
        route(
            "DELETE",
            "/auth/sessions/{session_id}",
            name=f"{surface}.session_end",
            summary="End one of your own sessions, with all of its tokens.",
            needs=None,
            limits=OWN,
            takes=SESSION_ID,
            runs=actions.end_session,
            shows=represent.done,
            fails=FAILS,
            raises=(NOT_FOUND,),
            status=NO_CONTENT,
        ),
        route(
            "DELETE",
            "/auth/sessions",
            name=f"{surface}.sessions_end",
            summary="End all of your own sessions except this one.",
            needs=None,
            limits=OWN,
            takes=NOTHING,
            runs=actions.end_others,
            shows=represent.done,
            fails=FAILS,
            raises=(),
            status=NO_CONTENT,
        ),
        route(
            "POST",
            "/auth/password/change",
            name=f"{surface}.password_change",
            summary="Change the password, given the current one; every session ends.",
            needs=None,
            limits=OWN_BODY,
            takes=CHANGE,
            runs=actions.change_password,
            shows=represent.ended,
            fails=FAILS,
            raises=(PASSWORD_WRONG, NOT_POSSIBLE, TOO_MANY_ATTEMPTS),
            status=NO_CONTENT,
        ),
    )


def second_factor_rows(surface: str, actions: AccountActions) -> Sequence[Row[SignedInCaller]]:
    """Return the rows for one's own second factor."""
    return (
        route(
            "POST",
            "/auth/totp",
            name=f"{surface}.totp_begin",
            summary="Start to enrol an authenticator app, given the password again.",
            needs=None,
            limits=OWN_BODY,
            takes=PASSWORD,
            runs=actions.start_totp,
            shows=represent.enrolment,
            fails=FAILS,
            raises=(PASSWORD_WRONG, NOT_POSSIBLE, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
        ),
        route(
            "POST",
            "/auth/totp/confirm",
            name=f"{surface}.totp_confirm",
            summary="Confirm the app by its first code; returns recovery codes; all sessions end.",
            needs=None,
            limits=OWN_BODY,
            takes=CODE,
            runs=actions.confirm_totp,
            shows=represent.recovery_codes_and_logout,
            fails=FAILS,
            raises=(MFA_INVALID, NOT_POSSIBLE, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
        ),
        route(
            "DELETE",
            "/auth/totp",
            name=f"{surface}.totp_remove",
            summary="Remove the app, after a recent step-up; every session ends.",
            needs=None,
            limits=OWN,
            takes=NOTHING,
            runs=actions.remove_totp,
            shows=represent.ended,
            fails=FAILS,
            raises=(STEP_UP_REQUIRED, NOT_POSSIBLE, TOKEN_INVALID),
            status=NO_CONTENT,
        ),
        route(
            "POST",
            "/auth/recovery-codes",
            name=f"{surface}.recovery_codes",
            summary="Replace all recovery codes by ten new ones, after a recent step-up.",
            needs=None,
            limits=OWN,
            takes=NOTHING,
            runs=actions.new_codes,
            shows=represent.recovery_codes,
            fails=FAILS,
            raises=(STEP_UP_REQUIRED, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
        ),
    )


_REFRESH = RowLimits("anonymous", BODY_BYTES)
_KEYS = RowLimits("keys", 0)
Published = Callable[[], Awaitable[dict[str, object]]]
"""Returns the JWK set of the keys in use."""


def sign_in_rows(actions: SignInActions) -> Sequence[Row[AnonymousCaller]]:
    """Return the rows that are called without a token."""
    return (
        route(
            "POST",
            "/auth/login",
            name="identity.login",
            summary="Sign in by password. Returns tokens, or asks for a second factor.",
            needs=None,
            limits=SIGN_IN,
            takes=LOGIN,
            runs=actions.login,
            shows=represent.login,
            fails=FAILS,
            raises=(PASSWORD_WRONG, TOO_MANY_ATTEMPTS),
        ),
        route(
            "POST",
            "/auth/mfa",
            name="identity.mfa",
            summary="Finish a sign-in with the challenge and a code.",
            needs=None,
            limits=SECOND_FACTOR,
            takes=MFA,
            runs=actions.submit_code,
            shows=represent.signed_in,
            fails=FAILS,
            raises=(MFA_INVALID, MFA_EXPIRED, PASSWORD_WRONG, TOO_MANY_ATTEMPTS),
        ),
        route(
            "POST",
            "/auth/refresh",
            name="identity.refresh",
            summary="Exchange a refresh token for a new pair of tokens; it works once.",
            needs=None,
            limits=_REFRESH,
            takes=REFRESH,
            runs=actions.refresh,
            shows=represent.tokens,
            fails=FAILS,
            raises=(REFRESH_INVALID,),
        ),
    )


def token_rows(actions: AccountActions) -> Sequence[Row[SignedInCaller]]:
    """Return the rows for the session of a token, which the panel has in another form."""
    return (
        route(
            "DELETE",
            "/auth/logout",
            name="identity.logout",
            summary="Sign out: the session and all of its tokens end at once.",
            needs=None,
            limits=LEAVING,
            takes=NOTHING,
            runs=actions.logout,
            shows=represent.done,
            fails=FAILS,
            raises=(),
            status=NO_CONTENT,
        ),
        route(
            "POST",
            "/auth/step-up",
            name="identity.step_up",
            summary="Submit a code of the second factor; it counts as recent for five minutes.",
            needs=None,
            limits=OWN_BODY,
            takes=CODE,
            runs=actions.step_up,
            shows=represent.fresh,
            fails=FAILS,
            raises=(MFA_INVALID, STEP_UP_REQUIRED, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
        ),
    )


def key_rows(published: Published) -> Sequence[Row[None]]:
    """Return the row of the public keys."""

    async def read(_who: None, _taken: None) -> dict[str, object]:
        return await published()

    return (
        route(
            "GET",
            "/jwks.json",
            name="keys.jwks",
            summary="The public keys of access tokens.",
            needs=None,
            limits=_KEYS,
            takes=NOTHING,
            runs=read,
            shows=represent.keys,
            fails=FAILS,
            raises=(),
        ),
    )
