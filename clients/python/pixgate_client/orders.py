"""Orders of payouts, and their bytes on the wire."""

from __future__ import annotations

import datetime as dt
import json
import unicodedata
import uuid
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Literal

MOST = Decimal("9999999999999.99")
_CENTAVO = Decimal("0.01")
_EXACT = Context(prec=28)
"""Not that of the caller, which may round."""
_LONGEST = 1024


def new_reference() -> str:
    """Make a reference that nobody else has."""
    return uuid.uuid4().hex


@dataclass(frozen=True, kw_only=True)
class _Order:
    """
    What both kinds of order have.

    Attributes:
        value: Reais, exact to the centavo.
        tax_number: CPF or CNPJ of the recipient, with or without punctuation.
        reference: Names the payout for ever: store it before you pay.
        date: The day in UTC, which must be today; None for the day of the call.
    """

    value: Decimal
    tax_number: str
    name: str = ""
    description: str = ""
    reference: str = field(default_factory=new_reference)
    date: dt.date | None = None

    def __post_init__(self) -> None:
        """
        Check what would not arrive as it was meant; everything else the gateway checks.

        Raises:
            TypeError: the value is no Decimal.
            ValueError: the value is no amount, or the reference no reference.
        """
        amount_text(self.value)
        check_reference(self.reference)


@dataclass(frozen=True, kw_only=True)
class PixOrder(_Order):
    """An order to pay to a PIX key; ``tax_number`` is its owner's."""

    key_type: Literal["cpf", "cnpj", "email", "phone", "evp"]
    key: str


@dataclass(frozen=True, kw_only=True)
class BankOrder(_Order):
    """An order to pay to a bank account; ``bank_number`` is its COMPE code or ISPB."""

    bank_number: str
    branch: str
    account: str
    account_type: Literal["checking", "savings", "salary", "payment"] = "checking"


Order = PixOrder | BankOrder


def body_of(order: Order, today: dt.date) -> bytes:
    """Write an order as JSON, its amount with exactly two decimals."""
    if isinstance(order, PixOrder):
        method, place = "pix", {"key_type": order.key_type, "key": order.key}
    else:
        method = "bank_account"
        place = {"bank_number": order.bank_number, "branch": order.branch}
        place |= {"account": order.account, "account_type": order.account_type}
    destination = {"name": order.name, "tax_number": order.tax_number, **place}
    rest = {
        "method": method,
        "reference": order.reference,
        "date": (order.date or today).isoformat(),
        "description": order.description,
        "destination": {name: text for name, text in destination.items() if text},
    }
    # Python's JSON has no decimals: the amount is written by hand in front of the rest.
    return f'{{"value": {amount_text(order.value)}, {json.dumps(rest)[1:]}'.encode()


def amount_text(value: object) -> str:
    """
    Write reais with two decimals.

    Raises:
        TypeError: it is no Decimal: a float does not hold every centavo.
        ValueError: it is not above zero, too large, or has a part of a centavo.
    """
    if not isinstance(value, Decimal):
        problem = f"an amount is a Decimal such as Decimal('10.50'), not {type(value).__name__}"
        raise TypeError(problem)
    if not value.is_finite() or not 0 < value <= MOST:
        problem = f"an amount is above 0 and at most {MOST}"
        raise ValueError(problem)
    exact = value.quantize(_CENTAVO, context=_EXACT)
    if exact != value:
        problem = "an amount has at most two decimals"
        raise ValueError(problem)
    return f"{exact:f}"


def check_reference(reference: str) -> None:
    """
    Look whether a reference survives the way in a path.

    Raises:
        ValueError: it is empty, too long, ``.`` or ``..``, has control characters, or is no
            Unicode.
    """
    reference.encode()
    if not 0 < len(reference) <= _LONGEST or reference in {".", ".."} or _has_control(reference):
        problem = "a reference has 1 to 1024 characters, without control characters"
        raise ValueError(problem)


def _has_control(text: str) -> bool:
    return any(unicodedata.category(each) == "Cc" for each in text)
