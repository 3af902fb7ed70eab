"""Cells that rows of the back office share, and what they run."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.accounts.service import AccountBanks
from gateway.approvals.service import Approvals, ApprovedSecrets
from gateway.banks.readings import Readings
from gateway.credentials.service import Credentials
from gateway.identity.users import Users
from gateway.refunds.service import Refunds
from gateway.reports.files import Turns
from gateway.sandbox.service import SandboxTools


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
    users: Users
    readings: Readings
    turns: Turns
    refunds: Refunds
    sandbox: SandboxTools | None
