"""The surface of identity: sign-ins, the caller's own account (contract 4.2), signing keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.core import errors, user_errors
from gateway.core.account import Environment
from gateway.core.catalogue import ErrorCode
from gateway.core.priority import Priority
from gateway.core.storage import StoreUnavailable
from gateway.core.user_access import CONFIRMING, LEAVING
from gateway.core.user_errors import (
    MFA_EXPIRED,
    MFA_INVALID,
    NOT_FOUND,
    NOT_POSSIBLE,
    PASSKEY_INVALID,
    PASSWORD_WRONG,
    REFRESH_INVALID,
    SIGN_IN_REFUSED,
    STEP_UP_REQUIRED,
    TOKEN_INVALID,
    TOO_MANY_ATTEMPTS,
)
from gateway.http.gates import (
    BODY_BYTES,
    AnonymousCaller,
    SignedInCaller,
    UserPolicies,
    admit_anonymous,
    admit_anybody,
    admit_signed_in,
    open_gate,
)
from gateway.http.route import OK, Answer, Gate, Surface
from gateway.http.routing import Routes, Shape
from gateway.identity import documents as represent
from gateway.identity.documents import (
    CHANGE,
    CODE,
    FORGOT,
    LINK,
    LOGIN,
    MFA,
    PASSKEY,
    PASSKEY_OPTIONS,
    PROOF,
    REFRESH,
    REGISTRATION,
    SESSION_ID,
    done,
)
from gateway.identity.services import IdentityServices
from policies.authentication.bearer import RefusesBasic
from policies.traffic.csrf import ReadFromOurPage
from policies.traffic.quota import WithinAddressQuota

CHALLENGE = 'Bearer realm="iam"'
"""Never Basic: a browser would open its own password dialog."""

NAME = "identity"
_OURS = ("SVC.GTW.", "SVC.SYS.")
_ELSEWHERE = frozenset(
    {
        errors.BANK_REFUSED,
        errors.ALREADY_IN_USE,
        errors.CREDENTIAL_LIMIT,
        errors.VERSION_CHANGED,
        errors.CLOSING_NOT_FOUND,
    }
)

CATALOGUE: tuple[ErrorCode, ...] = (
    *(error for error in user_errors.CATALOGUE if not error.code.startswith("SVC.")),
    errors.USER_CREDENTIALS_INVALID,
    errors.MALFORMED_REQUEST,
    *(
        error
        for error in errors.CATALOGUE
        if error.code.startswith(_OURS) and error not in _ELSEWHERE
    ),
)
"""Every code that identity and the panel answer with."""


def identity_surface(
    services: IdentityServices,
    session: Gate[AnonymousCaller],
    policies: UserPolicies,
    environment: Environment,
) -> Surface:
    """Build the surface; ``session`` is the gate of the panel's route that has our prefix."""
    return Surface(
        name=NAME,
        prefix="/iam/v1",
        gates=(
            _strangers(services, policies),
            _members(services, policies),
            session,
            open_gate(NAME, environment, CATALOGUE),
        ),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        explains=True,
    )


def _strangers(services: IdentityServices, policies: UserPolicies) -> Gate[AnonymousCaller]:
    """Return the gate of signing in and of recovering access."""
    return Gate(
        policies=(ReadFromOurPage(origin=policies.origin), policies.address_quota, RefusesBasic()),
        admits=admit_anonymous,
        routes=(
            *sign_in_routes(services).declared,
            *recovery_routes(NAME, services, done).declared,
        ),
        opens="these routes are called before a token exists",
    )


def _members(services: IdentityServices, policies: UserPolicies) -> Gate[SignedInCaller]:
    return Gate(
        policies=(policies.bearer, policies.user_quota),
        admits=admit_signed_in,
        routes=(*token_routes(services).declared, *account_routes(NAME, services).declared),
        scheme="bearer",
        opens="every signed-in user may do this to their own account",
    )


def keys_surface(
    published: Callable[[], Awaitable[dict[str, object]]], quota: WithinAddressQuota
) -> Surface:
    """Build the surface of the public keys."""
    everybody = Gate(
        policies=(quota,),
        admits=admit_anybody,
        routes=key_routes(published).declared,
        opens="verifiers of our tokens have no credentials here",
    )
    return Surface(
        name="keys",
        prefix="/.well-known",
        gates=(everybody,),
        challenge=CHALLENGE,
        body_bytes=0,
    )


SIGN_IN: Final = "sign_in"
SECOND_FACTOR: Final = "second_factor"
RECOVERY: Final = "recovery"
ACCEPTED = 202
FAILS: dict[type[Exception], ErrorCode] = {StoreUnavailable: errors.AUTH_UNAVAILABLE}
"""Without the store nobody can be authenticated: 503 on every row."""


def own_routes(surface: str, priority: Priority) -> Routes:
    """Return no routes yet; those added to it run a method for the user who calls."""
    return Routes(
        surface, "/auth", BODY_BYTES, needs=None, priority=priority, fails=FAILS, status=OK
    )


def recovery_routes(
    surface: str, services: IdentityServices, shows: Callable[[str, AnonymousCaller], Answer[None]]
) -> Routes:
    """Return the routes for users who cannot sign in; ``shows`` renders the use of a link."""
    routes = own_routes(surface, Priority.STRANGERS)
    passwords = services.passwords
    link: Shape = {
        "shows": shows,
        "fields": LINK,
        "quota": RECOVERY,
        "raises": (NOT_POSSIBLE, TOO_MANY_ATTEMPTS),
    }
    routes.post(
        "/password/forgot",
        "password_forgot",
        passwords.forgot,
        shows=represent.accepted,
        fields=FORGOT,
        quota=RECOVERY,
        raises=(TOO_MANY_ATTEMPTS,),
        status=ACCEPTED,
    )
    routes.post("/password/reset", "password_reset", passwords.reset, **link)
    routes.post("/invitations/accept", "invitation_accept", passwords.accept_invitation, **link)
    return routes


def account_routes(surface: str, services: IdentityServices) -> Routes:
    """Return the routes for the caller's own sessions, password and second factor."""
    routes = own_routes(surface, Priority.PAGES)
    sessions, factors = services.sessions, services.second_factors
    unproven = (PASSWORD_WRONG, MFA_INVALID, PASSKEY_INVALID, TOO_MANY_ATTEMPTS)
    routes.get("/sessions", "sessions", sessions.list, shows=represent.own_sessions)
    routes.delete(
        "/sessions/{session_id}",
        "session_end",
        sessions.end,
        shows=represent.done,
        fields=SESSION_ID,
        raises=(NOT_FOUND,),
    )
    routes.delete("/sessions", "sessions_end", sessions.end_others, shows=represent.done)
    routes.post(
        "/password/change",
        "password_change",
        services.passwords.change,
        shows=represent.ended,
        fields=CHANGE,
        raises=(*unproven, NOT_POSSIBLE),
    )
    routes.post(
        "/totp",
        "totp_begin",
        factors.begin,
        shows=represent.enrolment,
        takes={"proof": PROOF},
        raises=(*unproven, NOT_POSSIBLE, TOKEN_INVALID),
    )
    routes.post(
        "/totp/confirm",
        "totp_confirm",
        factors.confirm,
        shows=represent.recovery_codes_and_logout,
        fields=CODE,
        raises=(MFA_INVALID, NOT_POSSIBLE, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
    )
    without_factor = (*unproven, STEP_UP_REQUIRED)
    # no DELETE: it needs a body, which proxies and clients of DELETE may leave out
    routes.post(
        "/totp/remove",
        "totp_remove",
        factors.remove,
        shows=represent.ended_or_waits,
        takes={"proof": PROOF},
        raises=(*without_factor, NOT_POSSIBLE, errors.ALREADY_IN_USE),
    )
    routes.post(
        "/recovery-codes",
        "recovery_codes",
        factors.new_recovery_codes,
        shows=represent.recovery_codes,
        takes={"proof": PROOF},
        raises=without_factor,
    )
    _passkey_routes(routes, services)
    return routes


def _passkey_routes(routes: Routes, services: IdentityServices) -> None:
    """Declare the routes for the caller's own passkeys."""
    passkeys = services.passkeys
    unproven = (PASSWORD_WRONG, MFA_INVALID, PASSKEY_INVALID, TOO_MANY_ATTEMPTS, NOT_POSSIBLE)
    routes.get("/passkeys", "passkeys", passkeys.list, shows=represent.passkeys)
    routes.post(
        "/passkeys/options",
        "passkey_options",
        passkeys.options,
        shows=represent.assertion_options,
        quota=CONFIRMING,
        raises=(NOT_POSSIBLE,),
    )
    routes.post(
        "/passkeys/registration-options",
        "passkey_registration_options",
        passkeys.registration_options,
        shows=represent.registration_options,
        raises=(NOT_POSSIBLE, TOKEN_INVALID),
    )
    routes.post(
        "/passkeys",
        "passkey_register",
        passkeys.register,
        shows=represent.registered,
        takes={"wanted": REGISTRATION},
        raises=unproven,
    )
    # no DELETE: it needs a body, which proxies and clients of DELETE may leave out
    routes.post(
        "/passkeys/{passkey_id}/remove",
        "passkey_remove",
        passkeys.remove,
        shows=represent.ended_or_waits,
        takes={"proof": PROOF},
        raises=(*unproven, NOT_FOUND, errors.ALREADY_IN_USE),
    )


def sign_in_routes(services: IdentityServices) -> Routes:
    """Return the routes that are called without a token."""
    routes = own_routes("identity", Priority.STRANGERS)
    routes.post(
        "/login",
        "login",
        services.sign_in.login,
        shows=represent.login,
        fields=LOGIN,
        quota=SIGN_IN,
        raises=(PASSWORD_WRONG, SIGN_IN_REFUSED, TOO_MANY_ATTEMPTS),
    )
    routes.post(
        "/mfa",
        "mfa",
        services.sign_in.submit_code,
        shows=represent.signed_in,
        fields=MFA,
        quota=SECOND_FACTOR,
        raises=(MFA_INVALID, MFA_EXPIRED, PASSWORD_WRONG, SIGN_IN_REFUSED, TOO_MANY_ATTEMPTS),
    )
    routes.post(
        "/login/passkey/options",
        "login_passkey_options",
        services.sign_in.passkey_options,
        shows=represent.assertion_options,
        fields=PASSKEY_OPTIONS,
        quota="anonymous",
        raises=(NOT_POSSIBLE,),
    )
    routes.post(
        "/login/passkey",
        "login_passkey",
        services.sign_in.by_passkey,
        shows=represent.signed_in,
        fields=PASSKEY,
        quota=SIGN_IN,
        raises=(PASSKEY_INVALID, PASSWORD_WRONG, SIGN_IN_REFUSED, TOO_MANY_ATTEMPTS),
    )
    routes.post(
        "/refresh",
        "refresh",
        services.tokens.refresh,
        shows=represent.tokens,
        fields=REFRESH,
        quota="anonymous",
        raises=(REFRESH_INVALID,),
    )
    return routes


def token_routes(services: IdentityServices) -> Routes:
    """Return the routes for the session of a token, which the panel has in another form."""
    routes, factors = own_routes("identity", Priority.PAGES), services.second_factors
    routes.delete(
        "/logout",
        "logout",
        services.sessions.logout,
        shows=represent.done,
        quota=LEAVING,
        priority=Priority.ALWAYS,
    )
    routes.post(
        "/step-up",
        "step_up",
        factors.step_up,
        shows=represent.fresh,
        fields=CODE,
        quota=CONFIRMING,
        raises=(MFA_INVALID, STEP_UP_REQUIRED, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
    )
    routes.post(
        "/step-up/passkey",
        "step_up_passkey",
        factors.step_up_by_passkey,
        shows=represent.fresh,
        fields=PASSKEY,
        quota=CONFIRMING,
        raises=(PASSKEY_INVALID, TOKEN_INVALID, TOO_MANY_ATTEMPTS),
    )
    return routes


def key_routes(published: Callable[[], Awaitable[dict[str, object]]]) -> Routes:
    """Return the route of the public keys; ``published`` returns the JWK set of those in use."""

    def jwks() -> Awaitable[dict[str, object]]:
        return published()

    keys = Routes("keys", needs=None, quota="keys", priority=Priority.STRANGERS, fails=FAILS)
    keys.get(
        "/jwks.json",
        "jwks",
        jwks,
        shows=represent.keys,
        summary="The public keys of access tokens.",
    )
    return keys
