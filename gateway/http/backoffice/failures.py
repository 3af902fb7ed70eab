"""What failing banks become on the back office, and what every row of an account may refuse."""

from __future__ import annotations

from typing import Final

from gateway.domain.bank.provider_options import OutcomeUnknown
from gateway.domain.bank.providers import NotFound, NotSupported, ProviderError, Unreachable
from gateway.domain.identity import errors as identity_errors
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.http.common import STORE_FAILS
from gateway.http.route import RowLimits
from policies.traffic.person_quota import PERSON

Fails = dict[type[Exception], ErrorCode]

BODY_BYTES: Final = 64 * 1024
PLAIN: Final = RowLimits(PERSON, 0)
WITH_BODY: Final = RowLimits(PERSON, BODY_BYTES)
CREATED: Final = 201

READS: Final = (errors.PROVIDER_NOT_CONFIGURED,)
"""What every row that asks a bank refuses with."""

CHANGES: Final = (
    *READS,
    errors.PROVIDER_READ_ONLY,
    errors.BANK_REFUSED,
    errors.ALREADY_IN_USE,
)
"""What every row that changes something at a bank refuses with."""


def bank_fails(unavailable: ErrorCode, absent: ErrorCode | None = None) -> Fails:
    """Say what a bank's failures become: an own 502, 404 where it can be, 422 for one without."""
    fails: Fails = {
        **STORE_FAILS,
        NotSupported: errors.PROVIDER_NOT_CONFIGURED,
        ProviderError: unavailable,
    }
    return fails if absent is None else {**fails, NotFound: absent}


REFUND_FAILS: Final[Fails] = {
    **bank_fails(identity_errors.REFUND_UNKNOWN, errors.TRANSACTION_NOT_FOUND),
    Unreachable: identity_errors.REFUND_NOT_SENT,
    OutcomeUnknown: identity_errors.REFUND_UNKNOWN,
}
"""Money may have moved unless it is certain that it did not."""
