"""What people order of a bank: keys, charges and refunds, read as strictly as a payout."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType, normal_key
from gateway.banks.port.refunds import RefundRequest
from gateway.core import errors, schemas, strict
from gateway.core.calls import Input, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.schemas import KeyType, Reference, TaxNumber, Text
from gateway.payouts import bodies as payout
from gateway.payouts.model import KeyPayout
from policies.validation import bodies, fields, parameters
from policies.validation.bodies import body
from policies.validation.fields import document
from policies.validation.inputs import withdraw_input

LONGEST_REASON: Final = 500
"""Characters, as of every reason that is kept."""
LONGEST_EXPIRY_S: Final = 315_360_000
"""Ten years of 365 days."""

KeyWord = Annotated[KeyType, msgspec.Meta(examples=["email"])]
KeyText = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=1024,
        description="In the form of its type.",
        examples=["maria@example.com"],
    ),
]
ChargeWord = Literal["Dynamic", "Static"]
Name = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=1024, extra_json_schema={"pattern": schemas.PLAIN_TEXT}),
]
Expiry = Annotated[int, msgspec.Meta(ge=1, le=LONGEST_EXPIRY_S, description="Seconds from now.")]


class KeyBody(msgspec.Struct):
    """A key to be registered; ``key`` is absent for ``evp``, which the bank draws."""

    type: KeyWord
    key: KeyText | UnsetType = UNSET


class LookupBody(msgspec.Struct):
    """A key of any bank; without ``type`` its form tells."""

    key: KeyText
    type: KeyWord | UnsetType = UNSET


class PayerBody(msgspec.Struct):
    """Who is asked to pay."""

    name: Name
    tax_number: TaxNumber
    message: Text = ""


Reusable = Annotated[
    bool,
    msgspec.Meta(description="A static code can be paid again and again, whatever is said here."),
]


class ChargeBody(msgspec.Struct):
    """A charge to be made; without ``value`` the payer chooses, without ``payer`` anybody pays."""

    reference: Reference
    type: ChargeWord
    key: KeyText
    value: Money | None = None
    expires_in: Expiry | None = None
    payer: PayerBody | None = None
    description: Text = ""
    reusable: Reusable = False


class KeyPayoutBody(payout.PixWithdrawBody, kw_only=True):
    """
    A payout to a PIX key, where the path names the method.

    The bank is asked who owns the key. Where ``destination.tax_number`` is not the owner's,
    ``difference_reason`` says why it is ordered all the same; whoever approves it reads it.
    """

    difference_reason: Annotated[
        str,
        msgspec.Meta(max_length=LONGEST_REASON, extra_json_schema={"pattern": schemas.PLAIN_TEXT}),
    ] = ""


class RefundBody(msgspec.Struct):
    """Money to be given back, wholly or in part."""

    reference: Reference
    value: Money
    description: Text = ""


_KEY: Final = body(KeyBody, bodies.ORDERS)
_LOOKUP: Final = body(LookupBody, bodies.ORDERS)
_CHARGE: Final = body(ChargeBody, bodies.ORDERS)
_REFUND: Final = body(RefundBody, bodies.ORDERS)


def _key(asked: RawRequest) -> KeyOrder:
    found = _KEY.read(asked)
    kind = PixKeyType(found.type)
    if kind is PixKeyType.EVP:
        if found.key is not UNSET:  # the bank draws it
            raise ServiceError(errors.PAYLOAD_INVALID, "key_given", field="key")
        return KeyOrder(kind, "")
    if found.key is UNSET:
        raise ServiceError(errors.FIELD_MISSING, "missing", field="key")
    return KeyOrder(kind, _key_of(kind, found.key))


def _lookup(asked: RawRequest) -> str:
    """Read a key of anybody's, into its normal form."""
    found = _LOOKUP.read(asked)
    return (
        _any_key(found.key) if found.type is UNSET else _key_of(PixKeyType(found.type), found.key)
    )


def _charge(asked: RawRequest) -> ChargeOrder:
    found = _CHARGE.read(asked)
    kind = ChargeType(found.type)
    return ChargeOrder(
        reference=_reference(found.reference),
        type=kind,
        key=_any_key(found.key),
        value=found.value,
        expires_in=found.expires_in,
        payer=None if found.payer is None else _payer(found.payer),
        description=found.description,
        reusable=found.reusable or kind is ChargeType.STATIC,
    )


def _payer(found: PayerBody) -> Payer:
    number = fields.read(strict.tax_number, found.tax_number, "payer.tax_number", "tax_number_form")
    return Payer(name=found.name, tax_number=number, message=found.message)


def _reference(found: str) -> str:
    return fields.read(strict.reference, found, "reference", "reference_form")


def _key_of(kind: PixKeyType, found: str) -> str:
    return fields.read(partial(normal_key, kind), found, "key", f"{kind}_key_form")


def _any_key(found: str) -> str:
    """Read a key whose form alone tells its kind; the forms have nothing in common."""
    for kind in PixKeyType:
        with suppress(ValueError):
            return normal_key(kind, found)
    raise ServiceError(errors.PAYLOAD_INVALID, "key_form", field="key")


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
        reference=_reference(found.reference),
        payment=payment,
        description=found.description,
    )


_TO_A_KEY: Final = payout.PayoutReader(PayoutMethod.PIX)


def _key_payout(asked: RawRequest) -> KeyPayout:
    """Read a payout to a PIX key, with why it is ordered if the number is another one's."""
    content = document(asked)
    request = _TO_A_KEY.read(asked, content)
    reason = fields.text(content, "difference_reason")
    if len(reason) > LONGEST_REASON:
        raise ServiceError(errors.PAYLOAD_INVALID, "length", field="difference_reason")
    asked.unknown_fields -= "difference_reason" in content
    return KeyPayout(request=request, difference_reason=reason.strip())


KEY_PAYOUT: Final[Input[KeyPayout]] = Input(
    read=_key_payout,
    body=KeyPayoutBody,
    refuses=withdraw_input(PayoutMethod.PIX).refuses,
)


REFUND: Final[Input[RefundRequest]] = Input(read=refund, body=RefundBody, refuses=_REFUND.refuses)


KEY: Final[Input[KeyOrder]] = Input(read=_key, body=KeyBody, refuses=_KEY.refuses)
LOOKUP: Final[Input[str]] = Input(read=_lookup, body=LookupBody, refuses=_LOOKUP.refuses)
CHARGE: Final[Input[ChargeOrder]] = Input(read=_charge, body=ChargeBody, refuses=_CHARGE.refuses)
