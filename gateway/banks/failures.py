"""Error codes for failures of banks, for users and for partners."""

from __future__ import annotations

from typing import Final

from gateway.banks.port.providers import (
    NotFound,
    NotSupported,
    OutcomeUnknown,
    ProviderError,
    Unreachable,
)
from gateway.core import errors, user_errors
from gateway.core.catalogue import ErrorCode
from gateway.core.storage import StoreUnavailable
from gateway.http.common import STORE_FAILS, Fails


def bank_fails(unavailable: ErrorCode, absent: ErrorCode | None = None) -> Fails:
    """Return the mapping of bank failures: the route's 502, its 404, 422 without a provider."""
    return {**STORE_FAILS, **partner_bank_fails(unavailable, absent)}


def partner_bank_fails(unavailable: ErrorCode, absent: ErrorCode | None = None) -> Fails:
    """Return the mapping of bank failures for partners, for whom a failing store is a 500."""
    fails: Fails = {NotSupported: errors.PROVIDER_NOT_CONFIGURED, ProviderError: unavailable}
    return fails if absent is None else {**fails, NotFound: absent}


PARTNER_STORE_FAILS: Final[Fails] = {StoreUnavailable: errors.INTERNAL}


PAYOUT_FAILS: Final[Fails] = {
    **STORE_FAILS,
    ProviderError: errors.PROVIDER_UNREACHABLE,
    NotFound: errors.PIX_KEY_NOT_FOUND,
}


REFUND_FAILS: Final[Fails] = {
    **bank_fails(user_errors.REFUND_UNKNOWN, errors.TRANSACTION_NOT_FOUND),
    Unreachable: user_errors.REFUND_NOT_SENT,
    OutcomeUnknown: user_errors.REFUND_UNKNOWN,
}
"""Money may have moved unless it is certain that it did not."""
