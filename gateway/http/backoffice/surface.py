"""The back office: the gates that people come in by, and the rows behind each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.domain.accounts.accounts import Environment
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.rights import Role
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.clocks import Now
from gateway.http.backoffice.callers import Office, Staff, admit_office, admit_staff
from gateway.http.backoffice.failures import BODY_BYTES
from gateway.http.backoffice.money.accounts import account_list_rows, account_rows
from gateway.http.backoffice.money.charges import qrcode_acting_rows, qrcode_reading_rows
from gateway.http.backoffice.money.payouts import withdraw_acting_rows, withdraw_reading_rows
from gateway.http.backoffice.money.pix_keys import key_acting_rows, key_reading_rows
from gateway.http.backoffice.money.received import received_rows, refund_rows
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.common import open_gate
from gateway.http.route import Gate, Row, Surface
from policies.authentication.bearer import BearerToken
from policies.authorization.account_state import AccountState
from policies.authorization.right import RequiresRight
from policies.authorization.second_factor import RequiresSecondFactor
from policies.authorization.step_up import FreshFactor
from policies.authorization.visible_account import VisibleAccount
from policies.traffic.person_quota import WithinPersonQuota
from policies.validation.identifiers import Identifiers
from policies.validation.parameters import KnownParameters

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


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeRows:
    """
    The rows, by what is asked in front of them.

    Attributes:
        staff: Of no account: a person, a right, a fresh factor where it needs one.
        fresh: The same, with a fresh factor whatever the right.
        visible: Of one account in the path that is shown to the person, in
            whatever state.
        banking: Of one that is also active and verified (contract 5.1).
    """

    staff: Sequence[Row[Staff]] = ()
    fresh: Sequence[Row[Staff]] = ()
    visible: Sequence[Row[Office]] = ()
    banking: Sequence[Row[Office]] = ()

    def __add__(self, more: BackOfficeRows) -> BackOfficeRows:
        """Return these rows, then more."""
        return BackOfficeRows(
            staff=(*self.staff, *more.staff),
            fresh=(*self.fresh, *more.fresh),
            visible=(*self.visible, *more.visible),
            banking=(*self.banking, *more.banking),
        )


def operation_rows(does: BackOfficeOperations) -> BackOfficeRows:
    """Return the rows of the banking operations (contract 4.3)."""
    return BackOfficeRows(
        staff=account_list_rows(does),
        visible=(
            *account_rows(does),
            *key_reading_rows(does),
            *qrcode_reading_rows(does),
            *received_rows(does),
            *withdraw_reading_rows(does),
        ),
        banking=(
            *key_acting_rows(does),
            *qrcode_acting_rows(does),
            *refund_rows(does),
            *withdraw_acting_rows(does),
        ),
    )


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
) -> tuple[Gate[Staff], Gate[Staff], Gate[Office], Gate[Office]]:
    """Ask who it is, what they may do, how fresh their factor is; then for the account."""
    known = (
        *(questions.bearer, questions.persons),
        *(RequiresRight(), RequiresSecondFactor(questions.factor_roles)),
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
