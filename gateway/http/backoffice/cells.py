"""Cells that rows of the back office share, and what they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gateway.accounts.service import AccountBanks
from gateway.approvals.model import Approval, ApprovalDocument
from gateway.approvals.service import Approvals, ApprovedSecrets
from gateway.banks.readings import Readings
from gateway.credentials.service import Credentials
from gateway.http.backoffice.callers import AccountCaller, BackOfficeCaller
from gateway.http.route import Answer, RowLimits
from gateway.identity.access_orders import PeopleOrders
from gateway.refunds.service import Refunds
from gateway.reports.files import Turns
from gateway.sandbox.service import SandboxTools
from policies.traffic.quota import PERSON

BODY_BYTES: Final = 64 * 1024
"""As on banking: the largest body, a credential for a bank with its certificate, has 32 KiB."""
NO_BODY: Final = RowLimits(PERSON, 0)
WITH_BODY: Final = RowLimits(PERSON, BODY_BYTES)
CREATED: Final = 201
WAITS: Final = 202
NO_CONTENT: Final = 204


def waiting(found: Approval, who: BackOfficeCaller | AccountCaller) -> Answer[ApprovalDocument]:
    """Answer that an order waits for another user."""
    return Answer(content=found.to_document(who.staff), status=WAITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeOperations:
    """
    The operations of contract 4.3.

    Attributes:
        approvals: Where users' payouts and refunds go first.
        credentials, users: Orders about them, which may wait for another user.
        banks: Those behind accounts.
        turns: Files that are read now.
        sandbox: What people make the sandbox bank do; None in production.
    """

    approvals: Approvals
    secrets: ApprovedSecrets
    credentials: Credentials
    banks: AccountBanks
    users: PeopleOrders
    readings: Readings
    turns: Turns
    refunds: Refunds
    sandbox: SandboxTools | None
