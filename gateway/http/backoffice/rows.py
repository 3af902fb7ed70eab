"""Every row of the back office, by what is asked in front of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.domain.backoffice.audit_record import AuditRecord
from gateway.domain.backoffice.callbacks import Callbacks
from gateway.domain.backoffice.lists import Lists
from gateway.domain.backoffice.request_log import RequestLog
from gateway.domain.identity.mail import Outbox
from gateway.http.backoffice.administration.accounts import (
    AccountActs,
    account_change_rows,
    account_list_rows,
    account_reading_rows,
    account_record_rows,
)
from gateway.http.backoffice.administration.bank_connections import connection_rows
from gateway.http.backoffice.administration.companies import CompanyActs, company_rows
from gateway.http.backoffice.administration.credentials import CredentialActs, credential_rows
from gateway.http.backoffice.administration.roles import role_rows
from gateway.http.backoffice.administration.sessions import sign_in_rows
from gateway.http.backoffice.administration.user_acts import UserActs
from gateway.http.backoffice.administration.users import user_rows
from gateway.http.backoffice.callers import Office, Staff
from gateway.http.backoffice.money.balances import balance_rows
from gateway.http.backoffice.money.charges import qrcode_acting_rows, qrcode_reading_rows
from gateway.http.backoffice.money.payouts import withdraw_acting_rows, withdraw_reading_rows
from gateway.http.backoffice.money.pix_keys import key_acting_rows, key_reading_rows
from gateway.http.backoffice.money.received import received_rows
from gateway.http.backoffice.money.refunds import refund_reading_rows, refund_rows
from gateway.http.backoffice.money.reports import report_rows
from gateway.http.backoffice.money.statements import statement_rows
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.backoffice.oversight.approvals import ApprovalActs, approval_rows
from gateway.http.backoffice.oversight.audit import AuditActs, audit_rows
from gateway.http.backoffice.oversight.callbacks import WebhookActs, webhook_rows
from gateway.http.backoffice.oversight.outbox import OutboxActs, outbox_rows
from gateway.http.backoffice.oversight.providers import Health, ProviderActs, provider_rows
from gateway.http.backoffice.oversight.requests import RequestActs, request_rows
from gateway.http.backoffice.oversight.reviews import ReviewActs, review_rows
from gateway.http.backoffice.oversight.stops import StopActs, lifting_rows, stop_rows
from gateway.http.route import Row
from gateway.operations.backoffice.access_orders import CredentialOrders, PeopleOrders
from gateway.operations.backoffice.admin_services import AdminServices
from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.identity.services import IdentityServices
from gateway.operations.identity.sessions import UserSessions


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
            *account_reading_rows(does),
            *connection_rows(does),
            *balance_rows(does),
            *statement_rows(does),
            *report_rows(does),
            *key_reading_rows(does),
            *qrcode_reading_rows(does),
            *received_rows(does),
            *refund_reading_rows(does),
            *withdraw_reading_rows(does),
        ),
        banking=(
            *key_acting_rows(does),
            *qrcode_acting_rows(does),
            *refund_rows(does),
            *withdraw_acting_rows(does),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagementRuns:
    """
    What the rows run.

    Attributes:
        outbox: The sandbox's mail; None in production, where nobody reads it.
    """

    registers: AdminServices
    services: IdentityServices
    others: UserSessions
    approvals: Approvals
    credentials: CredentialOrders
    people: PeopleOrders
    record: AuditRecord
    lists: Lists
    callbacks: Callbacks
    requests: RequestLog
    outbox: Outbox | None
    providers: Callable[[], Sequence[Health]]


def management_rows(runs: ManagementRuns) -> BackOfficeRows:
    """Return the rows."""
    accounts = AccountActs(runs.registers)
    credentials = CredentialActs(runs.registers, runs.lists, runs.credentials)
    users = UserActs(runs.services, runs.others, runs.lists, runs.people)
    stops = StopActs(runs.registers, runs.lists)
    return BackOfficeRows(
        staff=(
            *company_rows(CompanyActs(runs.registers, runs.lists)),
            *account_record_rows(accounts),
            *credential_rows(credentials),
            *user_rows(users),
            *role_rows(),
            *sign_in_rows(users),
            *stop_rows(stops),
            *review_rows(ReviewActs(runs.registers, runs.lists)),
            *approval_rows(ApprovalActs(runs.approvals)),
            *audit_rows(AuditActs(runs.record)),
            *webhook_rows(WebhookActs(runs.callbacks)),
            *request_rows(RequestActs(runs.requests)),
            *provider_rows(ProviderActs(runs.providers)),
            *(outbox_rows(OutboxActs(runs.outbox)) if runs.outbox is not None else ()),
        ),
        fresh=lifting_rows(stops),
        visible=account_change_rows(accounts),
    )
