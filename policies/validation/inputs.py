"""What rows take, with how it is documented."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gateway.domain import errors
from gateway.domain.calls import Asked, Input, Parameter
from gateway.domain.money import Money
from gateway.domain.payouts import PayoutMethod, PayoutRequest
from gateway.domain.windows import DEFAULT_LIMIT, LARGEST_LIMIT, Search
from policies.validation import identifiers, payout, search
from policies.validation.fields import Text

_DAY = {"type": "string", "format": "date", "examples": ["2026-09-22"]}


class DestinationBody(msgspec.Struct):
    """
    Who is paid.

    ``pix`` needs key_type and key; ``bank_account`` needs bank_number, branch
    and account.
    """

    tax_number: Annotated[str, msgspec.Meta(examples=["529.982.247-25"], max_length=1024)]
    name: Text = ""
    key_type: Text = ""
    key: Text = ""
    bank_number: Text = ""
    branch: Text = ""
    account: Text = ""
    account_type: Text = ""


class WithdrawBody(msgspec.Struct):
    """A payout whose method the path names."""

    reference: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    value: Money
    date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    destination: DestinationBody
    description: Text = ""


class PayoutBody(WithdrawBody, kw_only=True):
    """A payout to a PIX key or to a bank account."""

    method: Annotated[str, msgspec.Meta(pattern="^(pix|bank_account)$", examples=["pix"])]


def _nothing(_asked: Asked) -> None:
    """Take nothing."""


NOTHING: Input[None] = Input(read=_nothing)

KEY_ID: Input[str] = Input(read=identifiers.key_id, refuses=(errors.IDENTIFIER_INVALID,))

REFERENCE: Input[str] = Input(read=identifiers.reference, refuses=(errors.PAYLOAD_INVALID,))

SEARCH: Input[Search] = Input(
    read=search.search,
    parameters=(
        Parameter(name="init", required=True, schema=_DAY, description="First UTC day, included."),
        Parameter(name="ends", required=True, schema=_DAY, description="Last UTC day, included."),
        Parameter(
            name="page",
            required=False,
            schema={"type": "integer", "minimum": 1, "maximum": 10**18 - 1, "default": 1},
            description="Counted from 1.",
        ),
        Parameter(
            name="limit",
            required=False,
            schema={
                "type": "integer",
                "minimum": 1,
                "maximum": 10**18 - 1,
                "default": DEFAULT_LIMIT,
            },
            description=f"Per page; more than {LARGEST_LIMIT} counts as {LARGEST_LIMIT}.",
        ),
    ),
    refuses=(
        errors.FIELD_MISSING,
        errors.DATE_INVALID,
        errors.WINDOW_INVALID,
        errors.NUMBER_INVALID,
    ),
)


def payout_input(*, alphanumeric_cnpj: bool) -> Input[PayoutRequest]:
    """Take a payout; ``alphanumeric_cnpj`` also takes the CNPJ with letters."""
    reader = payout.PayoutReader(alphanumeric_cnpj)
    return Input(read=reader, body=PayoutBody, refuses=payout.REFUSES)


def withdraw_input(method: PayoutMethod, *, alphanumeric_cnpj: bool) -> Input[PayoutRequest]:
    """Take a payout whose method the path names."""
    reader = payout.PayoutReader(alphanumeric_cnpj, method)
    refuses = tuple(each for each in payout.REFUSES if each is not errors.PAYOUT_METHOD_INVALID)
    return Input(read=reader, body=WithdrawBody, refuses=refuses)
