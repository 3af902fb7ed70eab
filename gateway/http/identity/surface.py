"""Where people sign in: the gates of identity, and the public keys of its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateway.domain.accounts.accounts import Environment
from gateway.domain.identity import errors as identity_errors
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.http.common import admit_anybody, open_gate
from gateway.http.identity.account_routes import (
    BODY_BYTES,
    account_rows,
    recovery_rows,
    second_factor_rows,
)
from gateway.http.identity.actions import AccountActions, RecoveryActions, SignInActions
from gateway.http.identity.callers import admit_anonymous, admit_signed_in
from gateway.http.identity.represent import done
from gateway.http.identity.routes import Published, entrance_rows, key_rows, token_rows
from gateway.http.route import Gate, Surface
from policies.authentication.bearer import BearerToken
from policies.traffic.address_quota import WithinAddressQuota
from policies.traffic.csrf import NoForeignPage, Origin
from policies.traffic.person_quota import WithinPersonQuota

CHALLENGE = 'Bearer realm="iam"'
"""Never Basic: a browser would open a password box of its own."""

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
    The policies that need something to look at.

    Attributes:
        quota: Of addresses, before anybody is known.
        persons: Of people, from then on.
        origin: Where our own pages come from.
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
        session: The gate of the panel's own session, which lives at this prefix.
    """

    entrance: SignInActions
    ways_back: RecoveryActions
    own: AccountActions
    session: Gate[Any]


def identity_surface(
    runs: IdentityActions, policies: IdentityPolicies, environment: Environment
) -> Surface:
    """Put the gates together."""
    strangers = Gate(
        policies=(NoForeignPage(policies.origin), policies.quota),
        admits=admit_anonymous,
        rows=(*entrance_rows(runs.entrance), *recovery_rows(NAME, runs.ways_back, done)),
        opens="nobody has a token before they sign in",
    )
    members = Gate(
        policies=(policies.bearer, policies.persons),
        admits=admit_signed_in,
        rows=(
            *token_rows(runs.own),
            *account_rows(NAME, runs.own),
            *second_factor_rows(NAME, runs.own),
        ),
        scheme="bearer",
        opens="whoever signed in does this to their own account",
    )
    return Surface(
        name=NAME,
        prefix="/iam/v1",
        gates=(strangers, members, runs.session, open_gate(NAME, environment, CATALOGUE)),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({"identity.health", "identity.logout"}),
        explains=True,
    )


def keys_surface(published: Published, quota: WithinAddressQuota) -> Surface:
    """Serve the public keys."""
    everybody = Gate(
        policies=(quota,),
        admits=admit_anybody,
        rows=key_rows(published),
        opens="who checks our tokens needs the keys first",
    )
    return Surface(
        name="keys",
        prefix="/.well-known",
        gates=(everybody,),
        challenge=CHALLENGE,
        body_bytes=0,
        exempt=frozenset(),
    )
