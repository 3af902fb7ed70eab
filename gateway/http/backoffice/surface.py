"""The back office: the checks in front of each group of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from gateway.core import errors, user_errors
from gateway.core.account import Environment
from gateway.core.catalogue import ErrorCode
from gateway.core.clocks import Now
from gateway.http.backoffice.callers import (
    AccountCaller,
    BackOfficeCaller,
    admit_office,
    admit_staff,
)
from gateway.http.backoffice.routing import BODY_BYTES, Routes
from gateway.http.common import open_gate
from gateway.http.people import UserPolicies
from gateway.http.route import Gate, Surface
from policies.authorization.credential import AccountState
from policies.authorization.user import (
    DecidesCompanyScope,
    FreshFactor,
    RequiresRight,
    VisibleAccount,
)
from policies.validation.parameters import Identifiers, KnownParameters

NAME: Final = "backoffice"


PREFIX: Final = "/backoffice/v1"


CHALLENGE: Final = 'Bearer realm="iam"'


CATALOGUE: Final[tuple[ErrorCode, ...]] = (*errors.CATALOGUE, *user_errors.CATALOGUE)
"""Every code there is: operators are asked about all of them."""


def backoffice_surface(
    nouns: Sequence[Routes],
    policies: UserPolicies,
    account: VisibleAccount,
    now: Now,
    environment: Environment,
) -> Surface:
    """Put the gates together; acts are dated by ``now``, too."""
    return Surface(
        name=NAME,
        prefix=PREFIX,
        gates=(
            *_gates(nouns, policies, account, now),
            open_gate(NAME, environment, CATALOGUE),
        ),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({f"{NAME}.health"}),
        explains=True,
    )


def _gates(
    nouns: Sequence[Routes], policies: UserPolicies, account: VisibleAccount, now: Now
) -> tuple[
    Gate[BackOfficeCaller], Gate[BackOfficeCaller], Gate[AccountCaller], Gate[AccountCaller]
]:
    """Ask who it is, what they may do, how fresh their factor is; then for the account."""
    known = (
        *(policies.bearer, policies.user_quota),
        *(RequiresRight(), policies.factor),
        DecidesCompanyScope(),
    )
    named = (Identifiers(), KnownParameters())
    user = (*known, FreshFactor(now), *named)
    fresh = (*known, FreshFactor(now, always=True), *named)
    visible = (*user, account)
    staff, office = admit_staff(now), admit_office(now)
    return (
        Gate(
            policies=user,
            admits=staff,
            rows=list(chain.from_iterable(each.staff for each in nouns)),
            scheme="bearer",
        ),
        Gate(
            policies=fresh,
            admits=staff,
            rows=list(chain.from_iterable(each.fresh for each in nouns)),
            scheme="bearer",
        ),
        Gate(
            policies=visible,
            admits=office,
            rows=list(chain.from_iterable(each.visible for each in nouns)),
            scheme="bearer",
        ),
        Gate(
            policies=(*visible, AccountState()),
            admits=office,
            rows=list(chain.from_iterable(each.banking for each in nouns)),
            scheme="bearer",
        ),
    )
