"""The bank's refusals: a status, a code and a text."""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus
from typing import Final


class Code(StrEnum):
    """Every reason to refuse; a dialect has its own words for each."""

    INVALID_REQUEST = "INVALID_REQUEST"
    INSUFFICIENT_FUNDS = "INSUFFICIENT_FUNDS"
    KEY_NOT_FOUND = "KEY_NOT_FOUND"
    ACCOUNT_INVALID = "ACCOUNT_INVALID"
    OWNER_MISMATCH = "OWNER_MISMATCH"
    REJECTED = "REJECTED"
    UNAUTHORIZED = "UNAUTHORIZED"
    WRONG_ACCOUNT = "WRONG_ACCOUNT"
    NOT_ALLOWED = "NOT_ALLOWED"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    DUPLICATE = "DUPLICATE"
    REFERENCE_IN_USE = "REFERENCE_IN_USE"
    KEY_IN_USE = "KEY_IN_USE"
    CHARGE_PAID = "CHARGE_PAID"
    CHARGE_CANCELED = "CHARGE_CANCELED"
    CHARGE_EXPIRED = "CHARGE_EXPIRED"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    AMBIGUOUS = "AMBIGUOUS"
    TOO_LARGE = "TOO_LARGE"
    KEY_REUSED = "KEY_REUSED"
    ABOVE_PAYMENT = "ABOVE_PAYMENT"
    PAYMENT_TOO_OLD = "PAYMENT_TOO_OLD"
    TOO_MANY_REQUESTS = "TOO_MANY_REQUESTS"
    INTERNAL = "INTERNAL"


_OF_STATUS: Final = {
    401: Code.UNAUTHORIZED,
    404: Code.NOT_FOUND,
    405: Code.METHOD_NOT_ALLOWED,
    413: Code.TOO_LARGE,
    429: Code.TOO_MANY_REQUESTS,
}
_STATUS: Final = {
    Code.UNAUTHORIZED: HTTPStatus.UNAUTHORIZED,
    Code.WRONG_ACCOUNT: HTTPStatus.FORBIDDEN,
    Code.NOT_ALLOWED: HTTPStatus.FORBIDDEN,
    Code.LIMIT_EXCEEDED: HTTPStatus.FORBIDDEN,
    Code.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Code.METHOD_NOT_ALLOWED: HTTPStatus.METHOD_NOT_ALLOWED,
    Code.DUPLICATE: HTTPStatus.CONFLICT,
    Code.REFERENCE_IN_USE: HTTPStatus.CONFLICT,
    Code.KEY_IN_USE: HTTPStatus.CONFLICT,
    Code.CHARGE_PAID: HTTPStatus.CONFLICT,
    Code.CHARGE_CANCELED: HTTPStatus.CONFLICT,
    Code.CHARGE_EXPIRED: HTTPStatus.CONFLICT,
    Code.ALREADY_EXISTS: HTTPStatus.CONFLICT,
    Code.AMBIGUOUS: HTTPStatus.CONFLICT,
    Code.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Code.KEY_REUSED: HTTPStatus.UNPROCESSABLE_ENTITY,
    Code.TOO_MANY_REQUESTS: HTTPStatus.TOO_MANY_REQUESTS,
    Code.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}


class Refusal(Exception):
    """
    A request that the bank refuses; nothing was changed.

    Attributes:
        status: The HTTP status of the answer; 400 unless the code has its own.
        code: The bank's error code.
        message: The text for people.
    """

    def __init__(self, code: Code, message: str, *, status: int | None = None) -> None:
        """Set ``status`` only where it differs from the code's usual one."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status or _STATUS.get(code, HTTPStatus.BAD_REQUEST)


def invalid(message: str) -> Refusal:
    """Say that a body or a query was not read_document."""
    return Refusal(Code.INVALID_REQUEST, message)


def not_found(what: str) -> Refusal:
    """Return the refusal for something that the account does not have."""
    return Refusal(Code.NOT_FOUND, f"{what} not found")


def of_status(status: int, *, executed: bool = False) -> Refusal:
    """
    Return the refusal of a bare HTTP status; the code says no more than the status.

    Of what was executed all the same, no code says that it was refused before.
    """
    failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    fallback = Code.INTERNAL if failed else Code.INVALID_REQUEST
    code = fallback if executed else _OF_STATUS.get(status, fallback)
    return Refusal(code, "the request failed", status=status)
