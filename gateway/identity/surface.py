"""The surface of identity: its gates, and the public keys of its tokens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gateway.core import errors, user_errors
from gateway.core.account import Environment
from gateway.core.catalogue import ErrorCode
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
from gateway.http.route import Gate, Surface
from gateway.identity.representation import done
from gateway.identity.services import IdentityServices
from gateway.identity.user_routes import (
    account_routes,
    key_routes,
    recovery_routes,
    sign_in_routes,
    token_routes,
)
from policies.authentication.bearer import RefusesBasic
from policies.traffic.csrf import ReadFromOurPage
from policies.traffic.quota import WithinAddressQuota

CHALLENGE = 'Bearer realm="iam"'
"""Never Basic: a browser would open its own password dialog."""

NAME = "identity"
_OURS = ("SVC.GTW.", "SVC.SYS.")
_ELSEWHERE = frozenset(
    {errors.BANK_REFUSED, errors.ALREADY_IN_USE, errors.CREDENTIAL_LIMIT, errors.VERSION_CHANGED}
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
        exempt=frozenset({"identity.health", "identity.logout"}),
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
    """Return the gate of signed-in users."""
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
        exempt=frozenset(),
    )
