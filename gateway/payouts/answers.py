"""What the caller of a payout is answered, by its outcome, and the word for log and metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import Accepted, NotSent, Outcome, Rejected, Settled
from gateway.core import errors
from gateway.core.catalogue import ErrorCode, bounded_wait
from gateway.core.errors import ServiceError
from gateway.core.storage import LimitReached
from gateway.payouts.model import Failure, Payout
from gateway.telemetry.records import current_record

_REFUSED_THERE: Final[Mapping[str, ErrorCode]] = {
    Reason.CREDENTIALS_REFUSED: errors.PROVIDER_CREDENTIALS_REFUSED,
    Reason.RATE_LIMITED: errors.PROVIDER_BUSY,
}
"""Why a payout was not sent, where repeating it at once would not help."""

CERTAINLY_NOT_SENT: Final = (errors.PROVIDER_UNREACHABLE, *_REFUSED_THERE.values())
"""Codes of a payout that moved nothing and may be repeated."""


def answer(payout: Payout, outcome: Outcome, *, recorded: bool) -> Payout:
    """
    Return what the caller may be told.

    An acknowledged payout is told even if recording failed: it is true. A
    rejection is told only once it is stored, lest money follow a refusal.

    Raises:
        ServiceError: for everything else than an acknowledged payout.
    """
    match outcome:
        case (
            Accepted(provider_id=provider_id, e2e_id=e2e_id)
            | Settled(provider_id=provider_id, e2e_id=e2e_id)
        ):
            tell("accepted")
            return replace(payout, provider_id=provider_id, e2e_id=e2e_id)
        case Rejected(failure=code, forbidden=forbidden) if recorded:
            tell("rejected")
            raise rejection(replace(payout, failure=Failure(code, forbidden)))
        case NotSent(evidence=evidence, retry_after=wait_s):
            raise not_sent(evidence.reason, wait_s)
        case _:
            tell("unknown")
            raise ServiceError(errors.PAYOUT_UNKNOWN, outcome.evidence.reason)


def not_sent(reason: str, wait_s: float | None = None) -> ServiceError:
    """Make the answer for a payout of which it is certain that it moved nothing."""
    error = _REFUSED_THERE.get(reason, errors.PROVIDER_UNREACHABLE)
    tell(reason if reason in _REFUSED_THERE else "not_sent")
    headers = {} if wait_s is None else {"Retry-After": str(bounded_wait(wait_s))}
    return ServiceError(error, reason, headers)


def rejection(payout: Payout) -> ServiceError:
    """Make the refusal a stored rejection is answered with."""
    failure = payout.failure
    forbidden = failure is not None and failure.forbidden
    error = errors.PAYOUT_NOT_ALLOWED if forbidden else errors.PAYOUT_REJECTED
    return ServiceError(error, failure.code.lower() if failure else "rejected")


def above_limit(problem: LimitReached) -> ServiceError:
    """Make the refusal of a payout above a limit: certainly nothing was sent."""
    tell("rejected")
    return ServiceError(errors.CREDENTIAL_LIMIT, f"limit_{problem}")


def tell(outcome: str) -> None:
    """Record the outcome for the request's log line and metric."""
    record = current_record()
    if record is not None:
        record.payout = outcome


def tell_method(method: PayoutMethod) -> None:
    """Record the method for the same line."""
    record = current_record()
    if record is not None:
        record.payout_method = method.value
