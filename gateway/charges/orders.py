"""A charge order, validated as strictly as a payout."""

from __future__ import annotations

from typing import Final

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.charges.model import ChargeBody, PayerBody
from gateway.core import strict
from gateway.core.calls import Input, RawRequest
from gateway.pix_keys.orders import any_key
from policies.validation import bodies, fields
from policies.validation.bodies import body

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
