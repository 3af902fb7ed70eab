"""Cells that rows of the back office share, and what they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, TypeVar

from aiohttp import hdrs

from gateway.accounts.service import AccountBanks
from gateway.approvals.model import Approval, ApprovalDocument
from gateway.approvals.service import Approvals, ApprovedSecrets
from gateway.banks.readings import Readings
from gateway.credentials.service import Credentials
from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.http.backoffice.callers import AccountCaller, BackOfficeCaller
from gateway.http.route import Answer, Document, RowLimits, VersionedAnswer
from gateway.operations.backoffice.access_orders import PeopleOrders
from gateway.operations.backoffice.downloads.exports import Exports
from gateway.operations.backoffice.payout_finder import PayoutFinder
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.payouts.payouts import Payouts
from gateway.operations.payouts.probes import PayoutProbes
from gateway.operations.payouts.records import PayoutLists, PayoutReads, PayoutRecords
from gateway.pix_keys.service import KeyOwners
from gateway.refunds.service import Refunds
from gateway.sandbox.service import SandboxTools
from policies.traffic.quota import PERSON

Shown = TypeVar("Shown", bound=Document)
BODY_BYTES: Final = 64 * 1024
"""As on banking: the largest body, a credential for a bank with its certificate, has 32 KiB."""
NO_BODY: Final = RowLimits(PERSON, 0)
WITH_BODY: Final = RowLimits(PERSON, BODY_BYTES)
CREATED: Final = 201
WAITS: Final = 202
NO_CONTENT: Final = 204


def reading(area: Area) -> Right:
    """Return the right to read."""
    return Right(area, Action.READ)


def writing(area: Area) -> Right:
    """Return the right to write."""
    return Right(area, Action.WRITE)


def versioned(document: Shown, version: str) -> VersionedAnswer[Shown]:
    """Answer with a document and its version, which a change may name in ``If-Match``."""
    return VersionedAnswer(content=document, headers={hdrs.ETAG: version})


def waiting(found: Approval, who: BackOfficeCaller | AccountCaller) -> Answer[ApprovalDocument]:
    """Answer that an order waits for another user."""
    return Answer(content=found.to_document(who.staff), status=WAITS)


def done(_done: None, _who: BackOfficeCaller) -> Answer[None]:
    """Answer without content."""
    return Answer(content=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeOperations:
    """
    The operations of contract 4.3.

    Attributes:
        payouts: The same that partners have.
        key_owners: Names the owner of the key that a user pays.
        admin: The records that administrators keep.
        approvals: Where users' payouts and refunds go first.
        credentials, users: Orders about them, which may wait for another user.
        banks: Those behind accounts.
        absent_after: What each provider's adapter declares, by the provider's name.
        sandbox: What people make the sandbox bank do; None in production.
    """

    key_owners: KeyOwners
    payouts: Payouts
    payout_reads: PayoutReads
    payout_lists: PayoutLists
    payout_records: PayoutRecords
    payout_finder: PayoutFinder
    payout_probes: PayoutProbes
    admin: AdminServices
    approvals: Approvals
    secrets: ApprovedSecrets
    credentials: Credentials
    banks: AccountBanks
    users: PeopleOrders
    exports: Exports
    readings: Readings
    refunds: Refunds
    absent_after: Mapping[str, timedelta | None] = field(default_factory=dict)
    sandbox: SandboxTools | None
