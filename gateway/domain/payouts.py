"""A payout: what was asked, what is kept, and which step may follow which."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from gateway.domain.accounts import Environment
from gateway.domain.money import Money
from gateway.domain.pix_keys import PixKeyType


class PayoutMethod(StrEnum):
    """How the recipient is named (contract 2.6)."""

    PIX = "pix"
    BANK_ACCOUNT = "bank_account"


class AccountType(StrEnum):
    """The kind of a recipient's bank account."""

    CHECKING = "checking"
    SAVINGS = "savings"
    SALARY = "salary"
    PAYMENT = "payment"


@dataclass(frozen=True, slots=True, kw_only=True)
class PixDestination:
    """A recipient by PIX key; tax number and key in their normal form."""

    name: str
    tax_number: str
    key_type: PixKeyType
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BankDestination:
    """A recipient by bank account; ``bank_number`` is COMPE (3 digits) or ISPB (8)."""

    name: str
    tax_number: str
    bank_number: str
    branch: str
    account: str
    account_type: AccountType


Destination = PixDestination | BankDestination


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutOrder:
    """
    A payout as a bank is asked for it.

    Attributes:
        provider_key: Ours, derived; the partner's reference never leaves us.
        value: Above zero.
    """

    provider_key: str
    method: PayoutMethod
    value: Money
    destination: Destination
    description: str

    def __post_init__(self) -> None:
        """Refuse to exist rather than be sent wrong."""
        if self.value.centavos <= 0:
            problem = "a payout is above zero"
            raise ValueError(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRequest:
    """
    A payout as the partner asked for it, checked; only "today" is still open.

    Attributes:
        reference: The same reference is the same payout, however often sent.
        destination: In normal form, for sending and for the fingerprint.
        destination_sent: The destination's known fields as they were spelt.
    """

    reference: str
    method: PayoutMethod
    value: Money
    date: date
    description: str
    destination: Destination
    destination_sent: Mapping[str, str]

    def fingerprint(self) -> str:
        """
        Return the SHA-256, in hexadecimal, of what makes two requests the same payout.

        The date is not in it, nor are spelling, order and white space.
        """
        content = [
            "v1",
            self.method.value,
            self.value.centavos,
            normal_destination(self.destination),
            self.description,
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def normal_destination(destination: Destination) -> dict[str, str]:
    """Write a destination as a flat mapping of texts, for keeping and comparing."""
    fields = destination.__dataclass_fields__
    return {name: str(getattr(destination, name)) for name in fields}


def restored_destination(method: PayoutMethod, fields: Mapping[str, str]) -> Destination:
    """Read back what ``normal_destination`` wrote."""
    if method is PayoutMethod.PIX:
        return PixDestination(
            name=fields["name"],
            tax_number=fields["tax_number"],
            key_type=PixKeyType(fields["key_type"]),
            key=fields["key"],
        )
    return BankDestination(
        name=fields["name"],
        tax_number=fields["tax_number"],
        bank_number=fields["bank_number"],
        branch=fields["branch"],
        account=fields["account"],
        account_type=AccountType(fields["account_type"]),
    )


def provider_key(environment: Environment, account_id: str, reference: str) -> str:
    """
    Derive the key a bank knows the payout by: 32 lower-case hexadecimal characters.

    It is the same for every attempt and after a restore, and carries no
    personal data.
    """
    parts = ("v1", environment.value, account_id, reference)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class PayoutState(StrEnum):
    """
    Where a payout stands.

    SENDING: the intent is stored and an attempt owned; it may have left.
    UNKNOWN: the attempt's outcome is not known; it is never sent again.
    NOT_SENT: proven that the attempt moved nothing; after a restore from backup
        it becomes UNKNOWN before it fails, since a later attempt may be forgotten.
    ACCEPTED: the bank has ordered it.
    PAID, REJECTED, FAILED: final.
    """

    SENDING = "sending"
    UNKNOWN = "unknown"
    NOT_SENT = "not_sent"
    ACCEPTED = "accepted"
    PAID = "paid"
    REJECTED = "rejected"
    FAILED = "failed"


FINAL_STATES = frozenset({PayoutState.PAID, PayoutState.REJECTED, PayoutState.FAILED})

SUCCESSORS: Mapping[PayoutState, frozenset[PayoutState]] = {
    PayoutState.SENDING: frozenset(PayoutState) - {PayoutState.SENDING},
    PayoutState.UNKNOWN: frozenset(
        {PayoutState.NOT_SENT, PayoutState.ACCEPTED, PayoutState.REJECTED} | FINAL_STATES
    ),
    PayoutState.NOT_SENT: frozenset({PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.FAILED}),
    PayoutState.ACCEPTED: frozenset({PayoutState.PAID, PayoutState.FAILED}),
    PayoutState.PAID: frozenset(),
    PayoutState.REJECTED: frozenset(),
    PayoutState.FAILED: frozenset(),
}
"""Which state may follow which; a final one is never left."""


class FailureCode(StrEnum):
    """Why a payout failed, in our words."""

    REJECTED = "REJECTED"
    INSUFFICIENT_FUNDS = "INSUFFICIENT_FUNDS"
    KEY_NOT_FOUND = "KEY_NOT_FOUND"
    ACCOUNT_INVALID = "ACCOUNT_INVALID"
    OWNER_MISMATCH = "OWNER_MISMATCH"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    RETURNED = "RETURNED"
    NOT_SENT = "NOT_SENT"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why, and whether the caller was (or is) answered 403 rather than 400."""

    code: FailureCode
    forbidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """
    A payout as stored; (``account_id``, ``reference``) is its key.

    Attributes:
        attempt: The number of the latest try to move money, from 1.
        lease_until: Until then the attempt belongs to the process that sends it.
        review: No proof can be had; a person decides.
        client_id: The credential whose request sent it last; its limits count it.
    """

    account_id: str
    reference: str
    fingerprint: str
    provider_key: str
    provider: str
    client_id: str
    method: PayoutMethod
    value: Money
    date: date
    description: str
    destination: Destination
    destination_sent: Mapping[str, str]
    state: PayoutState
    attempt: int
    lease_until: datetime
    created_at: datetime
    updated_at: datetime
    settled_at: datetime | None = None
    provider_id: str = ""
    e2e_id: str = ""
    failure: Failure | None = None
    review: bool = False

    def order(self) -> PayoutOrder:
        """Return what the bank is asked for."""
        return PayoutOrder(
            provider_key=self.provider_key,
            method=self.method,
            value=self.value,
            destination=self.destination,
            description=self.description,
        )
