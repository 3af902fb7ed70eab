"""A payout order to a bank: recipient, amount, and reasons of failure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateway.banks.port.pix_keys import PixKeyType, hidden_key
from gateway.core.approvals import NamedOwnerDocument
from gateway.core.money import Money
from gateway.core.strict import hidden_tax_number, is_other_number


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
class NamedOwner:
    """
    The owner of a payout's key, as the bank named the owner when a user ordered the payout.

    Attributes:
        tax_number: A person's with its ends hidden.
        bank: The key's bank, by name or number; empty where unreported.
        reason: Why it was ordered although the typed number differs; else empty.
    """

    name: str
    tax_number: str
    bank: str = ""
    reason: str = ""

    def differs(self, destination: Destination) -> bool:
        """Return whether the typed number is not the owner's."""
        return is_other_number(destination.tax_number, self.tax_number)

    def document(self, destination: Destination) -> NamedOwnerDocument:
        """Return the owner of the destination's key as a document."""
        return {
            "name": self.name,
            "tax_number": self.tax_number,
            "bank": self.bank,
            "differs": self.differs(destination),
            "reason": self.reason,
        }


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


def normal_destination(destination: Destination) -> dict[str, str]:
    """Convert a destination to a flat mapping of texts, for storing and comparing."""
    fields = destination.__dataclass_fields__
    return {name: str(getattr(destination, name)) for name in fields}


def hidden_destination(sent: Mapping[str, str]) -> dict[str, str]:
    """Return a destination as typed, with a person's tax number and key masked."""
    shown = dict(sent)
    bare = re.sub(r"[./ -]", "", sent["tax_number"])
    if hidden_tax_number(bare) != bare:
        shown["tax_number"] = hidden_tax_number(bare)
    if "key" in sent:
        shown["key"] = hidden_key(sent.get("key_type", ""), sent["key"])
    return shown


def restored_destination(method: PayoutMethod, fields: Mapping[str, str]) -> Destination:
    """Build a destination from the mapping of ``normal_destination``."""
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


class FailureCode(StrEnum):
    """
    Why a payout failed, in our words.

    RETURNED: it came back before it settled; one that settled stays paid,
        whatever comes back.
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
