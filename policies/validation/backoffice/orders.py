"""What people order of a bank: keys, charges and refunds, read as strictly as a payout."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from gateway.domain.backoffice.money_orders import KeyPayout
from gateway.domain.bank.charges import ChargeOrder, ChargeType, Payer
from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.pix_keys import KeyOrder, PixKeyType, normal_key
from gateway.domain.bank.refunds import RefundRequest
from gateway.domain.kernel import errors, strict
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import Money
from gateway.domain.requests import schemas
from gateway.domain.requests.calls import Input, RawRequest
from policies.validation import fields, parameters, payout
from policies.validation.fields import KeyType, Reference, TaxNumber, Text, document
from policies.validation.inputs import withdraw_input

LONGEST_REASON: Final = 500
"""Characters, as of every reason that is kept."""
LONGEST_EXPIRY_S: Final = 315_360_000
"""Ten years of 365 days."""

_PAYER: Final = "payer."
_BODY: Final = (errors.PAYLOAD_INVALID, errors.FIELD_MISSING)

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


class OrderReader:
    """Reads what people order; every method raises ServiceError with a code of ``SVC.VAL``."""

    def key(self, asked: RawRequest) -> KeyOrder:
        """Read a key to be registered."""
        body = _body(asked, KeyBody, ("type",))
        kind = _key_type(body)
        if kind is PixKeyType.EVP:
            return KeyOrder(kind, _no_key(body))
        fields.demand(body, ("key",))
        return KeyOrder(kind, self._key(kind, body["key"]))

    def lookup(self, asked: RawRequest) -> str:
        """Read a key of anybody's, into its normal form."""
        body = _body(asked, LookupBody, ("key",))
        if fields.missing(body, "type"):
            return self._any_key(body["key"])
        return self._key(_key_type(body), body["key"])

    def charge(self, asked: RawRequest) -> ChargeOrder:
        """Read a charge to be made."""
        body = _body(asked, ChargeBody, ("reference", "type", "key"))
        has_value = not fields.missing(body, "value")
        reference = fields.reference(body)
        kind = fields.read(ChargeType, body["type"], "type", "not_one_of")
        return ChargeOrder(
            reference=reference,
            type=kind,
            key=self._any_key(body["key"]),
            value=fields.positive(body["value"]) if has_value else None,
            expires_in=_expiry(body),
            payer=self._payer(body),
            description=fields.text(body, "description"),
            reusable=_flag(body, "reusable") or kind is ChargeType.STATIC,
        )

    def _payer(self, body: Mapping[str, Any]) -> Payer | None:
        """Read who is asked to pay; nobody, where nobody is named."""
        if body.get("payer") is None:
            return None
        payer = body["payer"]
        if not isinstance(payer, dict):
            raise ServiceError(errors.PAYLOAD_INVALID, "object", field="payer")
        fields.demand(payer, ("name", "tax_number"), _PAYER)
        number = payer["tax_number"]
        return Payer(
            name=fields.text(payer, "name", _PAYER),
            tax_number=fields.read(
                strict.tax_number, number, f"{_PAYER}tax_number", "tax_number_form"
            ),
            message=fields.text(payer, "message", _PAYER),
        )

    def _key(self, kind: PixKeyType, found: object) -> str:
        return fields.read(partial(normal_key, kind), found, "key", f"{kind}_key_form")

    def _any_key(self, found: object) -> str:
        """Read a key whose form alone tells its kind; the forms have nothing in common."""
        return fields.read(self._normal_of_any, found, "key", "key_form")

    def _normal_of_any(self, text: str) -> str:
        for kind in PixKeyType:
            with suppress(ValueError):
                return normal_key(kind, text)
        problem = "no key"
        raise ValueError(problem)


def refund(asked: RawRequest) -> RefundRequest:
    """
    Read a refund of the payment that the path names.

    Raises:
        ServiceError: with a code of ``SVC.VAL``.
    """
    payment = parameters.reference(asked)
    body = _body(asked, RefundBody, ("reference", "value"))
    return RefundRequest(
        value=fields.positive(body["value"]),
        reference=fields.reference(body),
        payment=payment,
        description=fields.text(body, "description"),
    )


_TO_A_KEY: Final = payout.PayoutReader(PayoutMethod.PIX)


def _key_payout(asked: RawRequest) -> KeyPayout:
    """Read a payout to a PIX key, with why it is ordered if the number is another one's."""
    body = document(asked)
    request = _TO_A_KEY.read(asked, body)
    reason = fields.text(body, "difference_reason")
    if len(reason) > LONGEST_REASON:
        raise ServiceError(errors.PAYLOAD_INVALID, "length", field="difference_reason")
    asked.unknown_fields -= "difference_reason" in body
    return KeyPayout(request=request, difference_reason=reason.strip())


KEY_PAYOUT: Final[Input[KeyPayout]] = Input(
    read=_key_payout,
    body=KeyPayoutBody,
    refuses=withdraw_input(PayoutMethod.PIX).refuses,
)


def _body(
    asked: RawRequest, shape: type[msgspec.Struct], needed: tuple[str, ...]
) -> Mapping[str, Any]:
    """Read the body, count what is not known, and demand what is needed."""
    body = document(asked)
    asked.unknown_fields = len(body.keys() - set(shape.__struct_fields__))
    fields.demand(body, needed)
    return body


def _key_type(body: Mapping[str, Any]) -> PixKeyType:
    return fields.read(PixKeyType, body["type"], "type", "key_type")


def _no_key(body: Mapping[str, Any]) -> str:
    """Refuse a random key that is named: the bank draws it."""
    if not fields.missing(body, "key"):
        raise ServiceError(errors.PAYLOAD_INVALID, "key_given", field="key")
    return ""


def _expiry(body: Mapping[str, Any]) -> int | None:
    """Read after how many seconds a charge can no longer be paid."""
    if body.get("expires_in") is None:
        return None
    with suppress(ValueError):
        seconds = fields.whole(body["expires_in"])
        if 0 < seconds <= LONGEST_EXPIRY_S:
            return seconds
    raise ServiceError(errors.PAYLOAD_INVALID, "seconds_range", field="expires_in")


def _flag(body: Mapping[str, Any], name: str) -> bool:
    """Read true or false; absent is false."""
    found = body.get(name)
    if found is None:
        return False
    if not isinstance(found, bool):
        raise ServiceError(errors.PAYLOAD_INVALID, "boolean", field=name)
    return found


REFUND: Final[Input[RefundRequest]] = Input(
    read=refund, body=RefundBody, refuses=(*_BODY, errors.AMOUNT_NOT_POSITIVE)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderInputs:
    """What rows of orders take."""

    key: Input[KeyOrder]
    lookup: Input[str]
    charge: Input[ChargeOrder]


_READER: Final = OrderReader()
_AMOUNTS: Final = (*_BODY, errors.AMOUNT_NOT_POSITIVE)
ORDERS: Final = OrderInputs(
    key=Input(read=_READER.key, body=KeyBody, refuses=_BODY),
    lookup=Input(read=_READER.lookup, body=LookupBody, refuses=_BODY),
    charge=Input(read=_READER.charge, body=ChargeBody, refuses=_AMOUNTS),
)
