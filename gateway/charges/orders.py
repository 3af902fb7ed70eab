"""A charge order, validated as strictly as a payout."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.core import schemas, strict
from gateway.core.calls import Input, RawRequest
from gateway.core.fields import meaning
from gateway.core.money import Money
from gateway.core.schemas import Reference, TaxNumber, Text
from gateway.pix_keys.orders import KeyText, any_key
from policies.validation import bodies, fields
from policies.validation.bodies import body

LONGEST_EXPIRY_S: Final = 315_360_000
"""Ten years of 365 days."""


ChargeWord = Literal["Dynamic", "Static"]


Name = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=1024, extra_json_schema={"pattern": schemas.PLAIN_TEXT}),
]


Expiry = Annotated[int, meaning("Seconds from now.", ge=1, le=LONGEST_EXPIRY_S)]


class PayerBody(msgspec.Struct):
    """The requested payer."""

    name: Annotated[Name, meaning("Name, as people know it.", "Maria Silva")]
    tax_number: TaxNumber
    message: Annotated[Text, meaning("What the payer writes.")] = ""


Reusable = Annotated[
    bool, meaning("A static code can be paid again and again, whatever is said here.")
]


class ChargeBody(msgspec.Struct):
    """A charge to be made; without ``value`` the payer chooses, without ``payer`` anybody pays."""

    reference: Reference
    type: Annotated[ChargeWord, meaning("Which type it is.")]
    key: KeyText
    value: Annotated[Money | None, meaning("Amount in reais.")] = None
    expires_in: Annotated[Expiry | None, meaning("Seconds after which the charge expires.")] = None
    payer: Annotated[PayerBody | None, meaning("Who is to pay; absent for anybody.")] = None
    description: Annotated[
        Text, meaning("A text that the recipient or payer may see; may be empty.", "Order 1042")
    ] = ""
    reusable: Reusable = False


_CHARGE: Final = body(ChargeBody, bodies.ORDERS)


def _charge(asked: RawRequest) -> ChargeOrder:
    found = _CHARGE.read(asked)
    kind = ChargeType(found.type)
    return ChargeOrder(
        reference=fields.read(strict.reference, found.reference, "reference", "reference_form"),
        type=kind,
        key=any_key(found.key),
        value=found.value,
        expires_in=found.expires_in,
        payer=None if found.payer is None else _payer(found.payer),
        description=found.description,
        reusable=found.reusable or kind is ChargeType.STATIC,
    )


def _payer(found: PayerBody) -> Payer:
    number = fields.read(strict.tax_number, found.tax_number, "payer.tax_number", "tax_number_form")
    return Payer(name=found.name, tax_number=number, message=found.message)


CHARGE: Final[Input[ChargeOrder]] = Input(read=_charge, body=ChargeBody, refuses=_CHARGE.refuses)
