"""A refund order, validated as strictly as a payout."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from gateway.banks.port.refunds import RefundRequest
from gateway.core import strict
from gateway.core.calls import Input, RawRequest
from gateway.core.fields import meaning
from gateway.core.money import Money
from gateway.core.schemas import Reference, Text
from policies.validation import bodies, fields, parameters
from policies.validation.bodies import body


class RefundBody(msgspec.Struct):
    """Money to be given back, wholly or in part."""

    reference: Reference
    value: Money
    description: Annotated[
        Text, meaning("A text that the recipient or payer may see; may be empty.", "Order 1042")
    ] = ""


_REFUND: Final = body(RefundBody, bodies.ORDERS)


def refund(asked: RawRequest) -> RefundRequest:
    """
    Read a refund of the payment that the path names.

    Raises:
        ServiceError: with a code of ``SVC.VAL``.
    """
    payment = parameters.reference(asked)
    found = _REFUND.read(asked)
    return RefundRequest(
        value=found.value,
        reference=fields.read(strict.reference, found.reference, "reference", "reference_form"),
        payment=payment,
        description=found.description,
    )


REFUND: Final[Input[RefundRequest]] = Input(read=refund, body=RefundBody, refuses=_REFUND.refuses)
