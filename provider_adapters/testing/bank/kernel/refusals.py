"""The bank's refusals: a status, a code and a text."""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus
from typing import Final, Self, TypeVar

Found = TypeVar("Found")


class Code(StrEnum):
    """Every reason to refuse, with the usual status; a dialect has its own words for each."""

    status: int

    def __new__(cls, word: str, status: int = 400) -> Self:
        """Make a code of its word and status."""
        code = str.__new__(cls, word)
        code._value_, code.status = word, status
        return code

    INVALID_REQUEST = "INVALID_REQUEST"
    INSUFFICIENT_FUNDS = "INSUFFICIENT_FUNDS"
    KEY_NOT_FOUND = "KEY_NOT_FOUND"
    ACCOUNT_INVALID = "ACCOUNT_INVALID"
    OWNER_MISMATCH = "OWNER_MISMATCH"
    REJECTED = "REJECTED"
    UNAUTHORIZED = "UNAUTHORIZED", 401
    WRONG_ACCOUNT = "WRONG_ACCOUNT", 403
    NOT_ALLOWED = "NOT_ALLOWED", 403
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED", 403
    NOT_FOUND = "NOT_FOUND", 404
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED", 405
    DUPLICATE = "DUPLICATE", 409
    REFERENCE_IN_USE = "REFERENCE_IN_USE", 409
    KEY_IN_USE = "KEY_IN_USE", 409
    CHARGE_PAID = "CHARGE_PAID", 409
    CHARGE_CANCELED = "CHARGE_CANCELED", 409
    CHARGE_EXPIRED = "CHARGE_EXPIRED", 409
    ALREADY_EXISTS = "ALREADY_EXISTS", 409
    AMBIGUOUS = "AMBIGUOUS", 409
    TOO_LARGE = "TOO_LARGE", 413
    KEY_REUSED = "KEY_REUSED", 422
    ABOVE_PAYMENT = "ABOVE_PAYMENT"
    BALANCE_LIMIT = "BALANCE_LIMIT"
    PAYMENT_TOO_OLD = "PAYMENT_TOO_OLD"
    TOO_MANY_REQUESTS = "TOO_MANY_REQUESTS", 429
    INTERNAL = "INTERNAL", 500


_OF_STATUS: Final = {
    401: Code.UNAUTHORIZED,
    404: Code.NOT_FOUND,
    405: Code.METHOD_NOT_ALLOWED,
    413: Code.TOO_LARGE,
    429: Code.TOO_MANY_REQUESTS,
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
        self.status = status or code.status


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
        raise Refusal(Code.NOT_FOUND, f"{what} not found")
    return record


def of_status(status: int, *, executed: bool = False) -> Refusal:
    """
    Return the refusal of a bare HTTP status; the code says no more than the status.

    Of what was executed all the same, no code says that it was refused before.
    """
    failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    fallback = Code.INTERNAL if failed else Code.INVALID_REQUEST
    code = fallback if executed else _OF_STATUS.get(status, fallback)
    return Refusal(code, "the request failed", status=status)
