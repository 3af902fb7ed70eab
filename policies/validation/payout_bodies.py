"""The bodies of payouts as they are documented; ``payout`` reads them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gateway.domain.kernel.money import Money
from gateway.domain.requests import schemas
from gateway.domain.requests.schemas import one_of
from policies.validation.fields import Day, KeyType, Reference, TaxNumber, Text

Holder = Annotated[Text, msgspec.Meta(examples=["Maria Silva"])]
Key = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=1024,
        description="In the form of its type; a phone number in E.164.",
        examples=["maria@example.com"],
    ),
]
BankNumber = Annotated[
    str,
    msgspec.Meta(
        pattern=schemas.BANK_NUMBER,
        description="A COMPE code of 3 digits or an ISPB of 8.",
        examples=["341"],
    ),
]
Branch = Annotated[str, msgspec.Meta(pattern=schemas.BRANCH, examples=["0001"])]
BankAccount = Annotated[
    str,
    msgspec.Meta(
        pattern=schemas.ACCOUNT,
        description="Digits, with a check digit or letter behind a hyphen where there is one.",
        examples=["123456-7"],
    ),
]
AccountKind = Literal["checking", "savings", "salary", "payment"]


class PixDestinationBody(msgspec.Struct):
    """Who is paid, by PIX key."""

    tax_number: TaxNumber
    key_type: Annotated[KeyType, msgspec.Meta(examples=["email"])]
    key: Key
    name: Holder = ""


class BankAccountDestinationBody(msgspec.Struct):
    """Who is paid, by bank account."""

    tax_number: TaxNumber
    bank_number: BankNumber
    branch: Branch
    account: BankAccount
    name: Holder = ""
    account_type: AccountKind = "checking"


class PixWithdrawBody(msgspec.Struct):
    """A payout to a PIX key, where the path names the method."""

    reference: Reference
    value: Money
    date: Day
    destination: PixDestinationBody
    description: Text = ""


class BankAccountWithdrawBody(msgspec.Struct):
    """A payout to a bank account, where the path names the method."""

    reference: Reference
    value: Money
    date: Day
    destination: BankAccountDestinationBody
    description: Text = ""


class PixPayoutBody(PixWithdrawBody, kw_only=True):
    """A payout to a PIX key."""

    method: Literal["pix"]


class BankAccountPayoutBody(BankAccountWithdrawBody, kw_only=True):
    """A payout to a bank account."""

    method: Literal["bank_account"]


@one_of(PixPayoutBody, BankAccountPayoutBody, told_by="method")
class PayoutBody(msgspec.Struct):
    """
    A payout to a PIX key or to a bank account.

    ``date`` is today in UTC. ``reference`` is the caller's own; repeated with the same content it
    answers the payout that is there already.
    """

    method: Literal["pix", "bank_account"]
