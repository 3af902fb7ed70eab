"""The surface of identity: its gates, and the public keys of its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateway.domain.accounts.accounts import Environment
from gateway.domain.identity import errors as identity_errors
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.http.common import admit_anybody, open_gate
from gateway.http.identity.actions import AccountActions, RecoveryActions, SignInActions
from gateway.http.identity.callers import admit_anonymous, admit_signed_in
from gateway.http.identity.represent import done
from gateway.http.identity.routes import (
    BODY_BYTES,
    Published,
    account_rows,
    key_rows,
    recovery_rows,
    second_factor_rows,
    sign_in_rows,
    token_rows,
)
from gateway.http.route import Gate, Surface
from policies.authentication.bearer import BearerToken
from policies.traffic.csrf import NoForeignPage, Origin
from policies.traffic.quota import WithinAddressQuota, WithinPersonQuota

CHALLENGE = 'Bearer realm="iam"'
"""Never Basic: a browser would open its own password dialog."""

NAME = "identity"
_OURS = ("SVC.GTW.", "SVC.SYS.")
_ELSEWHERE = frozenset(
    {errors.BANK_REFUSED, errors.ALREADY_IN_USE, errors.CREDENTIAL_LIMIT, errors.VERSION_CHANGED}
)

CATALOGUE: tuple[ErrorCode, ...] = (
    *(error for error in identity_errors.CATALOGUE if not error.code.startswith("SVC.")),
    errors.USER_CREDENTIALS_INVALID,
    errors.MALFORMED_REQUEST,
    *(
        error
        for error in errors.CATALOGUE
        if error.code.startswith(_OURS) and error not in _ELSEWHERE
    ),
)
"""Every code that identity and the panel answer with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityPolicies:
    """
    The policies of identity that need stores or settings.

    Attributes:
        quota: Per client address, before the caller is known.
        persons: Per user, afterwards.
        origin: The origin of our own pages.
    """

    bearer: BearerToken
    quota: WithinAddressQuota
    persons: WithinPersonQuota
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityActions:
    """
    What the rows run.

    Attributes:
        session: The gate of the panel's session row, which has this surface's prefix.
    """

    sign_in: SignInActions
    recovery: RecoveryActions
    account: AccountActions
    session: Gate[Any]


def identity_surface(
    actions: IdentityActions, policies: IdentityPolicies, environment: Environment
) -> Surface:
    """Build the surface from its gates."""
    strangers = Gate(
        policies=(NoForeignPage(policies.origin), policies.quota),
        admits=admit_anonymous,
        rows=(*sign_in_rows(actions.sign_in), *recovery_rows(NAME, actions.recovery, done)),
        opens="these rows are called before a token exists",
    )
    members = Gate(
        policies=(policies.bearer, policies.persons),
        admits=admit_signed_in,
        rows=(
            *token_rows(actions.account),
            *account_rows(NAME, actions.account),
            *second_factor_rows(NAME, actions.account),
        ),
        scheme="bearer",
        opens="every signed-in user may do this to their own account",
    )
    return Surface(
        name=NAME,
        prefix="/iam/v1",
        gates=(strangers, members, actions.session, open_gate(NAME, environment, CATALOGUE)),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({"identity.health", "identity.logout"}),
        explains=True,
    )


def keys_surface(published: Published, quota: WithinAddressQuota) -> Surface:
    """Build the surface of the public keys."""
    everybody = Gate(
        policies=(quota,),
        admits=admit_anybody,
        rows=key_rows(published),
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
