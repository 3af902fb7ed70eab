"""Is this a payout we can store and send?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.domain import errors, strict
from gateway.domain.calls import Asked
from gateway.domain.errors import ErrorCode, ServiceError
from gateway.domain.payouts import (
    AccountType,
    BankDestination,
    Destination,
    PayoutMethod,
    PayoutRequest,
    PixDestination,
)
from gateway.domain.pix_keys import PixKeyType, normal_key
from policies.validation import fields
from policies.validation.document import document

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
_BANK_NUMBER = re.compile(r"\d{3}|\d{8}", re.ASCII)
_BRANCH = re.compile(r"\d{1,4}", re.ASCII)
_ACCOUNT = re.compile(r"\d{1,20}(?:-[0-9A-Za-z])?", re.ASCII)


@dataclass(frozen=True, slots=True)
class PayoutReader:
    """
    Reads a payout request; whether its date is today is decided later.

    Attributes:
        alphanumeric_cnpj: Whether the CNPJ with letters is taken.
        method: Where the path names it; None reads it from the body.

    Source: contract 2.6; the order of the checks is fixed.
    """

    alphanumeric_cnpj: bool = False
    method: PayoutMethod | None = None

    def __call__(self, asked: Asked) -> PayoutRequest:
        """
        Read the body of a payout request.

        Raises:
            ServiceError: the first that applies of ``REFUSES``.
        """
        body = document(asked)
        method = self.method or _method(body)
        if any(fields.missing(body, name) for name in _REQUIRED):
            raise ServiceError(errors.FIELD_MISSING, "payout")
        value = fields.positive(body["value"])
        day = fields.day(body["date"])
        reference = fields.read(strict.reference, body["reference"], "reference")
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
        """Read who is paid, into the form it is sent and compared in."""
        if not sent["tax_number"]:
            raise ServiceError(errors.FIELD_MISSING, "tax_number")
        tax_number = fields.read(self._tax_number, sent["tax_number"], "tax_number")
        if method is PayoutMethod.PIX:
            return self._pix(sent, tax_number)
        return _bank(sent, tax_number)

    def _pix(self, sent: Mapping[str, str], tax_number: str) -> PixDestination:
        """Read a destination by PIX key."""
        if not sent["key_type"] or not sent["key"]:
            raise ServiceError(errors.PIX_KEY_INCOMPLETE, "pix_key")
        kind = fields.read(PixKeyType, sent["key_type"], "key_type")
        key = fields.read(lambda text: self._key(kind, text), sent["key"], "key")
        return PixDestination(name=sent["name"], tax_number=tax_number, key_type=kind, key=key)

    def _tax_number(self, text: str) -> str:
        """Read a tax number, with letters only where that is switched on."""
        return strict.tax_number(text, alphanumeric=self.alphanumeric_cnpj)

    def _key(self, kind: PixKeyType, text: str) -> str:
        """Read a PIX key of its kind."""
        return normal_key(kind, text, alphanumeric_cnpj=self.alphanumeric_cnpj)


def _bank(sent: Mapping[str, str], tax_number: str) -> BankDestination:
    """Read a destination by bank account."""
    if not (sent["bank_number"] and sent["branch"] and sent["account"]):
        raise ServiceError(errors.BANK_ACCOUNT_INCOMPLETE, "bank_account")
    return BankDestination(
        name=sent["name"],
        tax_number=tax_number,
        bank_number=_matching(_BANK_NUMBER, sent["bank_number"], "bank_number"),
        branch=_matching(_BRANCH, sent["branch"], "branch"),
        account=_matching(_ACCOUNT, sent["account"], "account"),
        account_type=fields.read(AccountType, sent["account_type"] or "checking", "account_type"),
    )


def _method(body: Mapping[str, Any]) -> PayoutMethod:
    """Read the method; anything but the two words is refused by its own code."""
    if fields.missing(body, "method"):
        raise ServiceError(errors.FIELD_MISSING, "method")
    method = body["method"]
    try:
        return PayoutMethod(method)
    except ValueError as problem:
        raise ServiceError(errors.PAYOUT_METHOD_INVALID, "method") from problem


def _destination_texts(method: PayoutMethod, found: object) -> dict[str, str]:
    """Read the texts of the destination that its method knows; absent ones are empty."""
    if not isinstance(found, dict):
        raise ServiceError(errors.PAYLOAD_INVALID, "destination")
    names = _PIX_FIELDS if method is PayoutMethod.PIX else _BANK_FIELDS
    return {name: fields.text(found, name) for name in names}


def _matching(pattern: re.Pattern[str], text: str, name: str) -> str:
    """Let a text through that matches whole."""
    if pattern.fullmatch(text) is None:
        raise ServiceError(errors.PAYLOAD_INVALID, name)
    return text
