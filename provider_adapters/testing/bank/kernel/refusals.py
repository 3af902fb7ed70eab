"""The bank's refusals: a status, a code and a text."""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus
from typing import Final, TypeVar

Found = TypeVar("Found")


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
    Code.UNAUTHORIZED: 401,
    **dict.fromkeys((Code.WRONG_ACCOUNT, Code.NOT_ALLOWED, Code.LIMIT_EXCEEDED), 403),
    Code.NOT_FOUND: 404,
    Code.METHOD_NOT_ALLOWED: 405,
    **dict.fromkeys((Code.DUPLICATE, Code.REFERENCE_IN_USE, Code.KEY_IN_USE), 409),
    **dict.fromkeys((Code.CHARGE_PAID, Code.CHARGE_CANCELED, Code.CHARGE_EXPIRED), 409),
    **dict.fromkeys((Code.ALREADY_EXISTS, Code.AMBIGUOUS), 409),
    Code.TOO_LARGE: 413,
    Code.KEY_REUSED: 422,
    Code.TOO_MANY_REQUESTS: 429,
    Code.INTERNAL: 500,
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
    """Return the refusal of a body or a query that cannot be read."""
    return Refusal(Code.INVALID_REQUEST, message)


def require(holds: object, otherwise: str) -> None:
    """Refuse a request of which something does not hold; raises ``INVALID_REQUEST``."""
    if not holds:
        raise invalid(otherwise)


def found(record: Found | None, what: str) -> Found:
    """Return a record that was looked for; raises ``NOT_FOUND``."""
    if record is None:
        raise not_found(what)
    return record


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
