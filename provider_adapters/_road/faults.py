"""What went wrong, as the provider error tree says it, each with a fixed reason word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    BadReply,
    CredentialsRefused,
    NotFound,
    NotSupported,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.net.client.messages import ProviderAnswer, SendProgress

_SECONDS = re.compile(r"[0-9]{1,5}", re.ASCII)

_OUTCOMES: Mapping[type[ProviderError], str] = {
    NotSupported: "rejected",
    NotFound: "not_found",
    Refused: "rejected",
    CredentialsRefused: "credentials_refused",
    RateLimited: "rate_limited",
    Unreachable: "connect_error",
    Unavailable: "unavailable",
    BadReply: "bad_response",
}
_TOLD_BY_REASON = frozenset({Reason.BREAKER_OPEN, Reason.BULKHEAD_FULL, Reason.TIMEOUT})

NO_ANSWER = frozenset(
    {Reason.CONNECTION_LOST, Reason.CONNECT_FAILED, Reason.CONNECT_TIMEOUT, Reason.DNS_FAILED}
)
"""The connection failed, not the bank: what alone makes repeating a read worth it."""


def outcome_word(failure: ProviderError) -> str:
    """Return the outcome that metrics know a failure by."""
    if failure.reason in _TOLD_BY_REASON:
        return failure.reason
    return _OUTCOMES.get(type(failure), "unavailable")


def blames_the_bank(failure: ProviderError) -> bool:
    """
    Say whether a failure counts against the bank: a clear "no" is an answer like any other.

    So is a refused certificate: it is one account's, and the others must not suffer for it.
    """
    if failure.reason == Reason.CERTIFICATE_REFUSED:
        return False
    return isinstance(failure, Unreachable | Unavailable | BadReply | RateLimited)


def timed_out(progress: SendProgress) -> ProviderError:
    """Name the failure of a call whose whole time is over."""
    return Unavailable(Reason.TIMEOUT) if progress.bytes_left else Unreachable(Reason.TIMEOUT)


def of_status(answer: ProviderAnswer) -> ProviderError:
    """
    Name what an answer's status means where the adapter lists nothing for it.

    A bare 404 is no "not found": a proxy says it too, and a payout wrongly
    believed absent is paid twice. The adapter lists the bank's own word for it.
    """
    status = answer.status
    if status == HTTPStatus.UNAUTHORIZED:
        return CredentialsRefused(Reason.CREDENTIALS_REFUSED, http_status=status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(Reason.RATE_LIMITED, http_status=status, retry_after=retry_after(answer))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unavailable(Reason.SERVER_ERROR, http_status=status, retry_after=retry_after(answer))
    if status >= HTTPStatus.BAD_REQUEST and status != HTTPStatus.NOT_FOUND:
        return Refused(Reason.REFUSED, http_status=status)
    redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
    return BadReply(Reason.REDIRECTED if redirect else "unexpected_status", http_status=status)


def retry_after(answer: ProviderAnswer) -> float | None:
    """Read how many seconds the bank asks us to wait; a date is not understood."""
    said = answer.headers.get("Retry-After", "")
    return float(said) if _SECONDS.fullmatch(said) else None
