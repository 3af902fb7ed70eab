"""Bodies of payouts: their documentation and validation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    Destination,
    PayoutMethod,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType, normal_key
from gateway.core import errors, schemas, strict
from gateway.core.calls import Input, RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.money import Money
from gateway.core.schemas import Day, KeyType, Reference, TaxNumber, Text, one_of
from gateway.payouts.model import KeyPayout, PayoutRequest
from policies.validation import fields
from policies.validation.fields import document

REFUSES: tuple[ErrorCode, ...] = (
    errors.PAYLOAD_INVALID,
    errors.FIELD_MISSING,
    errors.PAYOUT_METHOD_INVALID,
    errors.AMOUNT_NOT_POSITIVE,
    errors.DATE_INVALID,
    errors.BANK_ACCOUNT_INCOMPLETE,
    errors.PIX_KEY_INCOMPLETE,
)
_REQUIRED = ("reference", "value", "date", "destination")
_KNOWN = frozenset({"method", "description", *_REQUIRED})
_PIX_FIELDS = ("name", "tax_number", "key_type", "key")
_BANK_FIELDS = ("name", "tax_number", "bank_number", "branch", "account", "account_type")
_PIX_REQUIRED = ("key_type", "key")
_FORMS = {
    "bank_number": re.compile(r"\d{3}|\d{8}", re.ASCII),
    "branch": re.compile(r"\d{1,4}", re.ASCII),
    "account": re.compile(r"\d{1,20}(?:-[0-9A-Za-z])?", re.ASCII),
}
_WITHIN = "destination."
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class PayoutReader:
    """
    Reads a payout request; whether its date is today is decided later.

    Attributes:
        method: Where the path names it; None reads it from the body.

    Source: contract 2.6; the order of the checks is fixed.
    """

    method: PayoutMethod | None = None

    def __call__(self, asked: RawRequest) -> PayoutRequest:
        """
        Read the body of a payout request.

        Raises:
            ServiceError: the first that applies of ``REFUSES``.
        """
        return self.read(asked, document(asked))

    def read(self, asked: RawRequest, body: Mapping[str, Any]) -> PayoutRequest:
        """Parse a JSON body; raises as a call does."""
        method = self.method or _method(body)
        fields.demand(body, _REQUIRED)
        value = fields.positive(body["value"])
        day = fields.day(body["date"], "date")
        reference = fields.reference(body)
        description = fields.text(body, "description")
        sent = _destination_texts(method, body["destination"])
        asked.unknown_fields = len(set(body) - _KNOWN) + len(set(body["destination"]) - set(sent))
        return PayoutRequest(
            reference=reference,
            method=method,
            value=value,
            date=day,
            description=description,
            destination=self._destination(method, sent),
            destination_sent=sent,
        )

    def _destination(self, method: PayoutMethod, sent: Mapping[str, str]) -> Destination:
        """Read the recipient into the form that is sent and compared."""
        fields.demand(sent, ("tax_number",), _WITHIN)
        tax_number = _read(strict.tax_number, sent, "tax_number", "tax_number_form")
        if method is PayoutMethod.PIX:
            return self._pix(sent, tax_number)
        return _bank(sent, tax_number)

    def _pix(self, sent: Mapping[str, str], tax_number: str) -> PixDestination:
        for name in _PIX_REQUIRED:
            if not sent[name]:
                field = _WITHIN + name
                raise ServiceError(errors.PIX_KEY_INCOMPLETE, "missing_for_pix", field=field)
        kind = _read(PixKeyType, sent, "key_type", "key_type")
        key = _read(partial(normal_key, kind), sent, "key", f"{kind}_key_form")
        return PixDestination(name=sent["name"], tax_number=tax_number, key_type=kind, key=key)


def _bank(sent: Mapping[str, str], tax_number: str) -> BankDestination:
    for name in _FORMS:
        if not sent[name]:
            reason = "missing_for_bank_account"
            raise ServiceError(errors.BANK_ACCOUNT_INCOMPLETE, reason, field=_WITHIN + name)
    kind = sent["account_type"] or AccountType.CHECKING.value
    return BankDestination(
        name=sent["name"],
        tax_number=tax_number,
        bank_number=_matching(sent, "bank_number"),
        branch=_matching(sent, "branch"),
        account=_matching(sent, "account"),
        account_type=_read(AccountType, {"account_type": kind}, "account_type", "account_type"),
    )


def _method(body: Mapping[str, Any]) -> PayoutMethod:
    """Parse the method; anything but the two words is refused by its own code."""
    fields.demand(body, ("method",))
    method = body["method"]
    try:
        return PayoutMethod(method)
    except ValueError as problem:
        raise ServiceError(
            errors.PAYOUT_METHOD_INVALID, "payout_method", field="method"
        ) from problem


def _destination_texts(method: PayoutMethod, found: object) -> dict[str, str]:
    """Read the texts of the destination that its method has; absent ones are empty."""
    if not isinstance(found, dict):
        raise ServiceError(errors.PAYLOAD_INVALID, "object", field="destination")
    names = _PIX_FIELDS if method is PayoutMethod.PIX else _BANK_FIELDS
    return {name: fields.text(found, name, _WITHIN) for name in names}


def _read(reader: Callable[[str], Value], sent: Mapping[str, str], name: str, reason: str) -> Value:
    return fields.read(reader, sent[name], _WITHIN + name, reason)


def _matching(sent: Mapping[str, str], name: str) -> str:
    """Return a text of the destination if it matches its pattern as a whole."""
    if _FORMS[name].fullmatch(sent[name]) is None:
        raise ServiceError(errors.PAYLOAD_INVALID, f"{name}_form", field=_WITHIN + name)
    return sent[name]


Holder = Annotated[Text, Meta(examples=["Maria Silva"])]
Key = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        description=(
            "In the form of its type: a CPF or CNPJ with or without punctuation; an e-mail "
            "address of at most 77 characters; a telephone number with + and country code, such "
            "as +5511999998888; a random key (`evp`) as a UUID with hyphens."
        ),
        examples=["maria@example.com"],
    ),
]
BankNumber = Annotated[
    str,
    Meta(
        pattern=schemas.BANK_NUMBER,
        description="A COMPE code of 3 digits or an ISPB of 8.",
        examples=["341"],
    ),
]
Branch = Annotated[str, Meta(pattern=schemas.BRANCH, examples=["0001"])]
BankAccount = Annotated[
    str,
    Meta(
        pattern=schemas.ACCOUNT,
        description="Digits, with a check digit or letter behind a hyphen where there is one.",
        examples=["123456-7"],
    ),
]
AccountKind = Literal["checking", "savings", "salary", "payment"]


class PixDestinationBody(msgspec.Struct):
    """Who is paid, by PIX key."""

    tax_number: TaxNumber
    key_type: Annotated[KeyType, Meta(description="The type of the Pix key.", examples=["email"])]
    key: Key
    name: Annotated[Holder, meaning("Name, as people know it.")] = ""


class BankAccountDestinationBody(msgspec.Struct):
    """Who is paid, by bank account."""

    tax_number: TaxNumber
    bank_number: BankNumber
    branch: Annotated[Branch, meaning("Branch, up to 4 digits, without check digit.")]
    account: BankAccount
    name: Annotated[Holder, meaning("Name, as people know it.")] = ""
    account_type: Annotated[
        AccountKind, meaning("The kind of account; left out of a request, it is `checking`.")
    ] = "checking"


class PixWithdrawBody(msgspec.Struct):
    """A payout to a PIX key, where the path names the method."""

    reference: Reference
    value: Money
    date: Annotated[Day, meaning("The payout's date, a day in UTC: today.")]
    destination: PixDestinationBody
    description: Annotated[
        Text, meaning("A text that the recipient or payer may see; may be empty.", "Order 1042")
    ] = ""


class BankAccountWithdrawBody(msgspec.Struct):
    """A payout to a bank account, where the path names the method."""

    reference: Reference
    value: Money
    date: Annotated[Day, meaning("The payout's date, a day in UTC: today.")]
    destination: BankAccountDestinationBody
    description: Annotated[
        Text, meaning("A text that the recipient or payer may see; may be empty.", "Order 1042")
    ] = ""


class PixPayoutBody(PixWithdrawBody, kw_only=True):
    """A payout to a PIX key."""

    method: Annotated[Literal["pix"], meaning("How the money is paid: `pix` or `bank_account`.")]


class BankAccountPayoutBody(BankAccountWithdrawBody, kw_only=True):
    """A payout to a bank account."""

    reference: Annotated[Reference, Meta(extra_json_schema={"example": "order-1043"})]
    method: Annotated[
        Literal["bank_account"], meaning("How the money is paid: `pix` or `bank_account`.")
    ]


@one_of(PixPayoutBody, BankAccountPayoutBody, discriminator="method")
class PayoutBody(msgspec.Struct):
    """
    A payout to a PIX key or to a bank account.

    ``date`` is today in UTC. ``reference`` is the caller's own; repeated with the same content it
    answers the payout that is there already.
    """

    method: Annotated[
        Literal["pix", "bank_account"], meaning("How the money is paid: `pix` or `bank_account`.")
    ]


_WITHDRAWS = {
    PayoutMethod.PIX: PixWithdrawBody,
    PayoutMethod.BANK_ACCOUNT: BankAccountWithdrawBody,
}


PAYOUT: Final[Input[PayoutRequest]] = Input(read=PayoutReader(), body=PayoutBody, refuses=REFUSES)


def withdraw_input(method: PayoutMethod) -> Input[PayoutRequest]:
    """Return the input of a payout whose method is in the path."""
    reader = PayoutReader(method)
    refuses = tuple(each for each in REFUSES if each is not errors.PAYOUT_METHOD_INVALID)
    return Input(read=reader, body=_WITHDRAWS[method], refuses=refuses)


LONGEST_REASON: Final = 500
"""Characters, as of every reason that is kept."""


class KeyPayoutBody(PixWithdrawBody, kw_only=True):
    """
    A payout to a PIX key, where the path names the method.

    The key's owner is looked up at the bank. Where ``destination.tax_number`` is not the owner's,
    ``difference_reason`` is the reason for ordering it all the same; its approver sees it.
    """

    difference_reason: Annotated[
        str,
        Meta(
            description="Why the key's owner may differ from the recipient.",
            max_length=LONGEST_REASON,
            extra_json_schema={"pattern": schemas.PLAIN_TEXT},
        ),
    ] = ""


_TO_A_KEY: Final = PayoutReader(PayoutMethod.PIX)


def _key_payout(asked: RawRequest) -> KeyPayout:
    """Parse a payout to a PIX key, with the reason for a differing tax number."""
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
