"""The back office: the checks in front of each group of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gateway.domain.accounts.accounts import Environment
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.rights import Role
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.clocks import Now
from gateway.http.backoffice.callers import (
    AccountCaller,
    BackOfficeCaller,
    admit_office,
    admit_staff,
)
from gateway.http.backoffice.cells import BODY_BYTES
from gateway.http.backoffice.rows import BackOfficeRows
from gateway.http.common import open_gate
from gateway.http.route import Gate, Surface
from policies.authentication.bearer import BearerToken
from policies.authorization.credential import AccountState
from policies.authorization.user import (
    DecidesCompanyScope,
    FreshFactor,
    RequiresRight,
    RequiresSecondFactor,
    VisibleAccount,
)
from policies.traffic.quota import WithinPersonQuota
from policies.validation.parameters import Identifiers, KnownParameters

NAME: Final = "backoffice"


PREFIX: Final = "/backoffice/v1"


CHALLENGE: Final = 'Bearer realm="iam"'


CATALOGUE: Final[tuple[ErrorCode, ...]] = (*errors.CATALOGUE, *identity_errors.CATALOGUE)
"""Every code there is: operators are asked about all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeQuestions:
    """
    The policies that need something to look at.

    Attributes:
        now: The clock that acts are dated by, too.
        factor_roles: Whoever has one of these changes nothing without a second factor.
    """

    bearer: BearerToken
    persons: WithinPersonQuota
    account: VisibleAccount
    now: Now
    factor_roles: frozenset[Role]


def operator_surface(
    questions: BackOfficeQuestions, rows: BackOfficeRows, environment: Environment
) -> Surface:
    """Put the gates together."""
    return Surface(
        name=NAME,
        prefix=PREFIX,
        gates=(*_gates(questions, rows), open_gate(NAME, environment, CATALOGUE)),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({f"{NAME}.health"}),
        explains=True,
    )


def _gates(
    questions: BackOfficeQuestions, rows: BackOfficeRows
) -> tuple[
    Gate[BackOfficeCaller], Gate[BackOfficeCaller], Gate[AccountCaller], Gate[AccountCaller]
]:
    """Ask who it is, what they may do, how fresh their factor is; then for the account."""
    known = (
        *(questions.bearer, questions.persons),
        *(RequiresRight(), RequiresSecondFactor(questions.factor_roles)),
        DecidesCompanyScope(),
    )
    named = (Identifiers(), KnownParameters())
    person = (*known, FreshFactor(questions.now), *named)
    fresh = (*known, FreshFactor(questions.now, always=True), *named)
    account = (*person, questions.account)
    staff, office = admit_staff(questions.now), admit_office(questions.now)
    return (
        Gate(policies=person, admits=staff, rows=rows.staff, scheme="bearer"),
        Gate(policies=fresh, admits=staff, rows=rows.fresh, scheme="bearer"),
        Gate(policies=account, admits=office, rows=rows.visible, scheme="bearer"),
        Gate(
            policies=(*account, AccountState()),
            admits=office,
            rows=rows.banking,
            scheme="bearer",
        ),
    )
