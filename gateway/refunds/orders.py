"""A refund order, validated as strictly as a payout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

from gateway.banks.port.refunds import Refund
from gateway.core import strict
from gateway.core.calls import Input, RawRequest
from gateway.core.fields import meaning
from gateway.core.money import Money
from gateway.core.schemas import Reference, Text
from policies.validation import bodies, fields, parameters
from policies.validation.bodies import body


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundRequest:
    """
    A refund as the operator asks for it.

    Attributes:
        reference: Unique per account among refunds; the same reference is the
            same refund, however often sent.
        payment: The payment's end-to-end id, or the reference of the charge
            it paid.
        value: Above zero, at most the rest of the payment.
    """

    reference: str
    payment: str
    value: Money
    description: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid order, before it can be sent."""
        if self.value.centavos <= 0:
            problem = "a refund is above zero"
            raise ValueError(problem)

    @property
    def names_payment(self) -> bool:
        """Whether ``payment`` has the form of an end-to-end id and is taken for one."""
        return self.payment.startswith("E") and strict.is_e2e_id(self.payment)

    def matches(self, known: Refund) -> bool:
        """Return whether a known refund is the requested one; the reference is the same."""
        return (
            self.value == known.value
            and self.description == known.description
            and self.payment in {known.payment_e2e_id, known.payment_reference}
        )


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
