"""A payout order to a bank: recipient, amount, and reasons of failure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gateway.banks.port.pix_keys import PixKeyType
from gateway.core.money import Money


class PayoutMethod(StrEnum):
    """How the recipient is named."""

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
    An order to a bank to pay out.

    Attributes:
        provider_key: Our key, derived; the partner's reference never leaves us.
        value: Above zero.
    """

    provider_key: str
    method: PayoutMethod
    value: Money
    destination: Destination
    description: str

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid order, before it can be sent."""
        if self.value.centavos <= 0:
            problem = "a payout is above zero"
            raise ValueError(problem)


class FailureCode(StrEnum):
    """
    Why a payout failed, in our words.

    RETURNED: it came back before it settled; one that settled stays paid,
        even if money comes back.
    """

    REJECTED = "REJECTED"
    INSUFFICIENT_FUNDS = "INSUFFICIENT_FUNDS"
    KEY_NOT_FOUND = "KEY_NOT_FOUND"
    ACCOUNT_INVALID = "ACCOUNT_INVALID"
    OWNER_MISMATCH = "OWNER_MISMATCH"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    RETURNED = "RETURNED"
    NOT_SENT = "NOT_SENT"
    OTHER = "OTHER"
