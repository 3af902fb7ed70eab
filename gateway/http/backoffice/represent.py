"""Domain values into the documents of the back office."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiohttp import hdrs

from gateway.domain.backoffice.approvals import Approval
from gateway.domain.bank.incoming import IncomingPayment
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.pix_keys import KeyOwner, hidden_tax_number
from gateway.domain.bank.refunds import Refund, RefundStatus
from gateway.domain.payouts.payouts import Payout
from gateway.domain.requests.versions import version_of_account
from gateway.http.backoffice.callers import Office, Staff
from gateway.http.backoffice.documents import (
    AccountRecordDocument,
    AccountRecordList,
    ApprovalDocument,
    ConnectionDocument,
    IncomingDocument,
    IncomingList,
    KeyOwnerDocument,
    RefundDocument,
    RefundList,
)
from gateway.http.json import amount, instant
from gateway.http.resources import represent
from gateway.http.resources.documents import PayoutDocument
from gateway.http.route import Answer, VersionedAnswer
from gateway.operations.backoffice.bank_connections import SENTENCES, Connected
from gateway.operations.backoffice.visible_accounts import OwnedAccount
from gateway.operations.bank.pages import Listed
from gateway.operations.bank.reports import Report

WAITS: Final = 202

_FAILED: Final = "The refund failed."
_FAILURES: Mapping[FailureCode, str] = {
    FailureCode.REJECTED: "The bank rejected the refund.",
    FailureCode.INSUFFICIENT_FUNDS: "The available balance was not enough.",
    FailureCode.ACCOUNT_INVALID: "The payer's account is not valid any more.",
    FailureCode.LIMIT_EXCEEDED: "A limit of the account was exceeded.",
    FailureCode.NOT_SENT: "The refund was not sent.",
}


def account(found: OwnedAccount, _who: Office) -> VersionedAnswer[AccountRecordDocument]:
    """Show an account as registered, with its version."""
    version = version_of_account(found.account)
    return VersionedAnswer(content=_account(found), headers={hdrs.ETAG: version})


def connection(came: Connected, _who: Office) -> ConnectionDocument:
    """Show what came of asking a bank."""
    return {
        "works": came is Connected.WORKS,
        "outcome": came.value,
        "message": SENTENCES[came],
    }


def accounts(found: Listed[OwnedAccount], _who: Staff) -> AccountRecordList:
    """Show a page of accounts."""
    meta = represent.meter(found.paging, found.total)
    return {"data": [_account(each) for each in found.items], "meta": meta}


def report(found: Report, _who: Office) -> Answer[bytes]:
    """Show a report as a file to be kept; no browser guesses at what it is."""
    return Answer(
        content=found.content,
        content_type=found.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{found.file_name}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def key_owner(found: KeyOwner, _who: Office) -> KeyOwnerDocument:
    """Show who is behind a key."""
    return {
        "key": found.key,
        "type": found.type.value,
        "name": found.name,
        "tax_number": hidden_tax_number(found.tax_number),
        "ispb": found.ispb,
        "bank_number": found.bank_number,
        "bank_name": found.bank_name,
        "branch": found.branch,
        "account": found.account,
    }


def incoming(found: Listed[IncomingPayment], _who: Office) -> IncomingList:
    """Show a page of payments."""
    meta = represent.meter(found.paging, found.total)
    return {"data": [_incoming(each) for each in found.items], "meta": meta}


def refund(found: Refund, _who: Office) -> RefundDocument:
    """Show a refund."""
    shown: RefundDocument = {
        "reference": found.reference,
        "status": found.status.value,
        "value": amount(found.value),
        "description": found.description,
        "transaction": {"reference": found.payment_reference, "e2e_id": found.payment_e2e_id},
        "return_id": found.return_id,
        "created_at": instant(found.created_at),
        "settled_at": instant(found.settled_at),
    }
    if found.status is RefundStatus.FAILED:
        code = found.failure or FailureCode.OTHER
        shown["failure"] = {"code": code.value, "message": _FAILURES.get(code, _FAILED)}
    return shown


def refunds(found: Listed[Refund], who: Office) -> RefundList:
    """Show a page of refunds."""
    meta = represent.meter(found.paging, found.total)
    return {"data": [refund(each, who) for each in found.items], "meta": meta}


def approval(found: Approval) -> ApprovalDocument:
    """Show an order that waits, or what became of it."""
    return {
        "id": found.id,
        "status": found.state.value,
        "kind": found.kind.value,
        "company_id": found.company_id,
        "account_id": found.account_id,
        "subject": found.subject,
        "reference": found.reference,
        "value": amount(found.value),
        "ordered_by": found.orderer,
        "ordered_at": instant(found.ordered_at),
        "ends_at": instant(found.ends_at),
        "decided_by": found.decider,
        "decided_at": instant(found.decided_at),
        "reason": found.reason,
        "outcome": {"status": found.outcome.value, "code": found.outcome_code},
        "secret_until": instant(found.collected_until),
    }


def ordered_payout(
    found: Payout | Approval, who: Office
) -> Answer[PayoutDocument] | Answer[ApprovalDocument]:
    """Show the payout that was made, or that it waits."""
    if isinstance(found, Approval):
        return waiting(found)
    return Answer(content=represent.payout_created(found, who))


def ordered_refund(
    found: Refund | Approval, who: Office
) -> Answer[RefundDocument] | Answer[ApprovalDocument]:
    """Show the refund that was given, or that it waits."""
    if isinstance(found, Approval):
        return waiting(found)
    return Answer(content=refund(found, who))


def waiting(found: Approval) -> Answer[ApprovalDocument]:
    """Show that an order waits."""
    return Answer(content=approval(found), status=WAITS)


def _account(found: OwnedAccount) -> AccountRecordDocument:
    record, at = found.account, found.account.coordinates
    return {
        "id": record.id,
        "company": {
            "id": record.company_id,
            "name": found.company.name if found.company else "",
        },
        "name": record.name,
        "tax_number": record.tax_number,
        "active": record.active,
        "verified": record.verified,
        "provider": record.provider,
        "provider_account": record.provider_account,
        "has_credentials": bool(record.sealed_credentials),
        "bank_number": at.bank_number,
        "ispb": at.ispb,
        "branch": at.branch,
        "account": at.account,
        "created_at": instant(record.created_at),
    }


def _incoming(found: IncomingPayment) -> IncomingDocument:
    shown: IncomingDocument = {
        "id": found.provider_id,
        "reference": found.reference,
        "e2e_id": found.e2e_id,
        "status": found.status.value,
        "value": amount(found.value),
        "refunded": amount(found.refunded),
        "paid_at": instant(found.paid_at),
    }
    if found.payer is not None:
        shown["payer"] = represent.payer(found.payer)
    return shown
