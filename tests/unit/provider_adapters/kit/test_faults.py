"""Failures by their names."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port import providers
from gateway.banks.port.providers import ProviderError, Reason
from provider_adapters.kit import faults
from tests.world.tables import cases


@cases(
    ("status", "kind"),
    [
        (204, providers.BadReply),
        (302, providers.BadReply),
        (400, providers.Refused),
        (401, providers.CredentialsRefused),
        (403, providers.Refused),
        (404, providers.BadReply),
        (429, providers.RateLimited),
        (500, providers.Unavailable),
        (599, providers.Unavailable),
    ],
)
def test_a_status_alone_never_means_not_found(status: int, kind: type[ProviderError]):
    """Payout protocol: only the bank's own error code does."""
    failure = faults.of_status(ProviderAnswer(status=status, headers={}, body=b""))

    assert type(failure) is kind
    assert failure.http_status == status


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
EPOCH = int(NOON.timestamp())


@cases(
    ("said", "seconds"),
    [
        ({"retry-after": "30"}, 30.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "Fri, 20 Nov 2026 12:00:40 GMT"}, 40.0),
        ({"retry-after": "Friday, 20-Nov-26 12:00:40 GMT"}, 40.0),
        ({"retry-after": "Fri, 20 Nov 2026 11:59:00 GMT"}, 0.0),
        ({"ratelimit-reset": "7"}, 7.0),
        ({"ratelimit-reset": str(EPOCH + 25)}, 25.0),
        ({"ratelimit-reset": str(EPOCH - 25)}, 0.0),
        ({"retry-after": "30", "ratelimit-reset": "7"}, 30.0),
        ({"retry-after": "3", "ratelimit-reset": "7"}, 7.0),
        ({"retry-after": "soon", "ratelimit-reset": "7"}, 7.0),
        ({}, None),
        *(
            ({"retry-after": wrong}, None)
            for wrong in (
                *("", "-1", "1e3", "1.5", "٣", "12345678901", "soon", "GMT", "nonsense GMT"),
                *("Fri, 99 Nov 2026 12:00:00 GMT", "Fri, 20 Nov 2026 12:00:00 -0300"),
                *("Fri, 20 Nov 99999 12:00:00 GMT", "x" * 1000 + " GMT"),
            )
        ),
    ],
)
def test_retry_after_is_read_in_every_format_banks_use(said: dict[str, str], seconds: float | None):
    """Seconds or a date (RFC 9110, 10.2.3), and ``RateLimit-Reset``; the longest counts."""
    answer = ProviderAnswer(status=429, headers=CIMultiDict(said), body=b"")

    assert faults.retry_after(answer, lambda: NOON) == seconds


@given(st.text())
def test_an_unreadable_retry_after_is_ignored(text: str):
    answer = ProviderAnswer(
        status=429, headers={"Retry-After": text, "RateLimit-Reset": text + "GMT"}, body=b""
    )

    wait = faults.retry_after(answer, lambda: NOON)

    assert wait is None or wait >= 0


@cases(
    ("failure", "word", "blamed"),
    [
        (providers.NotSupported(Reason.NOT_SUPPORTED), "rejected", False),
        (providers.NotFound(Reason.NOT_FOUND), "not_found", False),
        (providers.Refused(Reason.REFUSED), "rejected", False),
        (providers.CredentialsRefused(Reason.CREDENTIALS_REFUSED), "credentials_refused", False),
        (providers.RateLimited(Reason.RATE_LIMITED), "rate_limited", False),
        (providers.BadReply(Reason.NOT_JSON, http_status=429), "bad_response", False),
        (providers.Unreachable(Reason.CONNECT_FAILED), "connect_error", True),
        (providers.Unreachable(Reason.BREAKER_OPEN), "breaker_open", True),
        (providers.Unreachable(Reason.BULKHEAD_FULL), "bulkhead_full", True),
        (providers.Unavailable(Reason.TIMEOUT), "timeout", True),
        (providers.Unavailable(Reason.CONNECTION_LOST), "unavailable", True),
        (providers.Unreachable(Reason.CERTIFICATE_REFUSED), "connect_error", False),
        (providers.Unavailable(Reason.CERTIFICATE_REFUSED), "unavailable", False),
        (providers.BadReply(Reason.NOT_JSON), "bad_response", True),
    ],
)
def test_every_failure_has_its_outcome_and_whether_the_bank_is_at_fault(
    failure: ProviderError, word: str, blamed: bool
):
    """A definite refusal counts as an answer."""
    assert faults.outcome_word(failure) == word
    assert faults.blames_the_bank(failure) is blamed
