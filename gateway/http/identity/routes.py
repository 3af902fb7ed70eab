"""Identity's own rows (contract 4.2): signing in, refreshing, signing out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from gateway.domain.identity.errors import (
    MFA_EXPIRED,
    MFA_INVALID,
    PASSWORD_WRONG,
    REFRESH_INVALID,
    STEP_UP_REQUIRED,
    TOKEN_INVALID,
    TOO_MANY_ATTEMPTS,
)
from gateway.http.identity import represent
from gateway.http.identity.account_routes import (
    BODY_BYTES,
    FAILS,
    LEAVING,
    NO_CONTENT,
    OWN_BODY,
    SECOND_FACTOR,
    SIGN_IN,
)
from gateway.http.identity.actions import AccountActions, SignInActions
from gateway.http.identity.callers import AnonymousCaller, SignedInCaller
from gateway.http.route import Row, RowLimits, route
from policies.validation.identity import CODE, LOGIN, MFA, REFRESH
from policies.validation.inputs import NOTHING

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
