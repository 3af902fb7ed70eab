"""Failures as provider errors, each with a fixed reason word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    NotFound,
    NotSupported,
    ProviderError,
    RateLimited,
    Reason,
    Refused,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.core.clocks import Now
from gateway.net.common.runtime import utc_now
from provider_adapters.kit.tolerant import says_absent

_SECONDS = re.compile(r"[0-9]{1,10}", re.ASCII)
_TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS.value
# No bank asks for a wait of 30 years: a larger number is an instant.
_INSTANTS = 1_000_000_000
# The longest of the forms that HTTP has ever had for a date, with a little room.
_LONGEST_DATE = 40

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
    """Return the outcome of a failure as metrics name it."""
    if failure.reason in _TOLD_BY_REASON:
        return failure.reason
    return _OUTCOMES.get(type(failure), "unavailable")


def blames_the_bank(failure: ProviderError) -> bool:
    """
    Return whether a failure counts against the bank: a refusal is an answer like any other.

    So is a refused certificate, or a refusal for too many calls: it is one account's, and the
    others must not suffer for it.
    """
    if failure.reason == Reason.CERTIFICATE_REFUSED:
        return False
    if failure.http_status == _TOO_MANY:
        return False
    return isinstance(failure, Unreachable | Unavailable | BadReply)


def leaves_unknown(value: object) -> bool:
    """Return whether an answer leaves a payout unknown, which counts against the bank."""
    return isinstance(value, Unknown) and value.evidence.http_status != _TOO_MANY


def of_status(answer: ProviderAnswer) -> ProviderError:
    """
    Name the meaning of an answer's status where the adapter lists none.

    A 404 is "not found" where the call names one thing, as ``tolerant.says_absent`` has it. Of
    a payout or a refund a bare 404 is none: it may come from a proxy, and a payout wrongly taken as
    absent is paid twice. There the adapter lists the bank's own word for it.
    """
    status = answer.status
    if status == HTTPStatus.NOT_FOUND and says_absent(answer):
        return NotFound(Reason.NOT_FOUND, http_status=status)
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


def retry_after(answer: ProviderAnswer, now: Now = utc_now) -> float | None:
    """
    Read how many seconds the bank asks us to wait: the longest that it says in any way.

    ``Retry-After`` is seconds or a date (RFC 9110, 10.2.3). ``RateLimit-Reset`` is seconds;
    banks that follow older habits say an instant in seconds since 1970.
    """
    said = answer.headers.get("Retry-After", ""), answer.headers.get("RateLimit-Reset", "")
    waits = [wait for text in said if (wait := _wait_s(text, now)) is not None]
    return max(waits, default=None)


def _wait_s(text: str, now: Now) -> float | None:
    """Read seconds, an instant in seconds since 1970, or a date; None for anything else."""
    if _SECONDS.fullmatch(text):
        seconds = float(text)
        return seconds if seconds < _INSTANTS else max(0.0, seconds - now().timestamp())
    if len(text) > _LONGEST_DATE or not text.endswith("GMT"):
        return None
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=UTC) - now()).total_seconds())
