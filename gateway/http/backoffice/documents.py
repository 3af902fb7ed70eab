"""The shapes of the back office's own answers; the others are those of partners."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.http.json import Amount
from gateway.http.resources.documents import FailureDocument, Instant, Meter, PayerDocument
from policies.validation.fields import KeyType


class OwnerDocument(TypedDict):
    """The company that owns an account."""

    id: str
    name: str


class AccountRecordDocument(TypedDict):
    """An account as registered, with where it is held (contract 2.10)."""

    id: str
    company: OwnerDocument
    name: str
    tax_number: str
    active: bool
    verified: bool
    provider: str
    provider_account: str
    has_credentials: bool
    bank_number: str
    ispb: str
    branch: str
    account: str
    created_at: Instant


class ConnectionDocument(TypedDict):
    """What came of asking an account's bank; ``works`` is true for the outcome of that name."""

    works: bool
    outcome: Literal[
        "works",
        "no_provider",
        "no_credentials",
        "credentials_refused",
        "account_unknown",
        "refused",
        "not_offered",
        "busy",
        "unreachable",
        "no_answer",
        "not_understood",
    ]
    message: str


class AccountRecordList(TypedDict):
    """A page of accounts, oldest first."""

    data: list[AccountRecordDocument]
    meta: Meter


class KeyOwnerDocument(TypedDict):
    """Who is behind a PIX key; a person's tax number is shown without its ends."""

    key: str
    type: Annotated[KeyType, Meta(examples=["email"])]
    name: str
    tax_number: str
    ispb: str
    bank_number: str
    bank_name: str
    branch: str
    account: str


class IncomingDocument(TypedDict):
    """A payment that came in; its reference is empty where it paid no charge."""

    id: str
    reference: str
    e2e_id: str
    status: Literal["paid", "partly_refunded", "refunded"]
    value: Amount
    refunded: Amount
    paid_at: Instant
    payer: NotRequired[PayerDocument]


class IncomingList(TypedDict):
    """A page of payments, newest first."""

    data: list[IncomingDocument]
    meta: Meter


class RefundedDocument(TypedDict):
    """The payment that is given back; its reference is empty where it paid no charge."""

    reference: str
    e2e_id: str


class RefundDocument(TypedDict):
    """A refund; only a failed one has a failure."""

    reference: str
    status: Literal["processing", "paid", "failed"]
    value: Amount
    description: str
    transaction: RefundedDocument
    return_id: str
    created_at: Instant
    settled_at: Instant
    failure: NotRequired[FailureDocument]


class RefundList(TypedDict):
    """A page of refunds, newest first."""

    data: list[RefundDocument]
    meta: Meter


class OutcomeDocument(TypedDict):
    """What became of an order that was approved; the code is that of a refusal."""

    status: Literal["", "done", "moved", "refused", "not_sent", "unknown"]
    code: str


class ApprovalDocument(TypedDict):
    """
    An order that waits for another person, or what became of it.

    ``subject`` is what it is about: an account, a credential, a person. Until
    ``secret_until`` whoever ordered it may fetch the secret, once.
    """

    id: str
    status: Literal["waiting", "approved", "rejected", "expired", "void"]
    kind: Literal[
        "payout",
        "refund",
        "credential_issue",
        "credential_rotation",
        "credential_limits",
        "invitation",
        "roles",
        "factor_reset",
    ]
    company_id: str
    account_id: str
    subject: str
    reference: str
    value: Amount
    ordered_by: str
    ordered_at: Instant
    ends_at: Instant
    decided_by: str
    decided_at: Instant
    reason: str
    outcome: OutcomeDocument
    secret_until: Instant
