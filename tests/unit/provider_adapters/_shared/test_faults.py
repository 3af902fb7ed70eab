"""Failures by their names."""

from __future__ import annotations

import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict

from gateway.domain import providers
from gateway.domain.providers import ProviderError
from provider_adapters._shared import faults
from provider_adapters._shared.messages import ProviderAnswer
from provider_adapters._shared.passage import Passage
from provider_adapters._shared.reasons import Reason

KEY = ConnectionKey("bank.example", 443, True, True, None, None, None, None)
BEFORE = [
    (aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "unknown name")), "dns_failed"),
    (aiohttp.ClientConnectorError(KEY, OSError(111, "refused")), "connect_failed"),
    (aiohttp.ConnectionTimeoutError(), "connect_timeout"),
    (aiohttp.ClientConnectorCertificateError(KEY, ssl.CertificateError()), "tls_failed"),
    (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "alert")), "tls_failed"),
    (aiohttp.ServerFingerprintMismatch(b"a", b"b", "bank.example", 443), "tls_failed"),
    (aiohttp.InvalidURL("x"), "unsendable"),
    (ValueError("a header with a line break"), "unsendable"),
    (aiohttp.ServerDisconnectedError(), "connect_failed"),
]
AFTER = [
    (TimeoutError(), providers.Unavailable, "timeout"),
    (aiohttp.SocketTimeoutError(), providers.Unavailable, "timeout"),
    (aiohttp.ServerDisconnectedError(), providers.Unavailable, "connection_lost"),
    (aiohttp.ClientOSError(104, "reset"), providers.Unavailable, "connection_lost"),
    (aiohttp.ClientPayloadError(), providers.BadReply, "answer_cut_short"),
    (
        aiohttp.ClientConnectorError(KEY, OSError(104, "tls 1.3")),
        providers.Unavailable,
        "connection_lost",
    ),
]


@pytest.mark.parametrize(("problem", "reason"), BEFORE, ids=lambda row: type(row).__name__)
def test_before_a_byte_all_is_unreachable(problem: Exception, reason: str):
    failure = faults.of_exception(problem, Passage())

    assert isinstance(failure, providers.Unreachable)
    assert failure.reason == reason


@pytest.mark.parametrize(("problem", "kind", "reason"), AFTER)
def test_after_a_byte_nothing_is(problem: Exception, kind: type[ProviderError], reason: str):
    """All of these are connection errors by class; the witness decides."""
    passage = Passage()
    passage.leaving()

    failure = faults.of_exception(problem, passage)

    assert type(failure) is kind
    assert failure.reason == reason


@pytest.mark.parametrize("problem", [problem for problem, _ in BEFORE])
def test_no_exception_can_deny_a_byte_that_left(problem: Exception):
    passage = Passage()
    passage.leaving()

    assert not isinstance(faults.of_exception(problem, passage), providers.Unreachable)


@pytest.mark.parametrize("sent", [False, True])
def test_time_that_is_over_is_named_by_whether_a_byte_left(sent: bool):
    passage = Passage()
    if sent:
        passage.leaving()

    failure = faults.timed_out(passage)

    assert type(failure) is (providers.Unavailable if sent else providers.Unreachable)


@pytest.mark.parametrize(
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
def test_a_status_alone_never_says_not_found(status: int, kind: type[ProviderError]):
    """Payout protocol: only the bank's own word is."""
    failure = faults.of_status(ProviderAnswer(status=status, headers={}, body=b""))

    assert type(failure) is kind
    assert failure.http_status == status


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("30", 30.0), ("0", 0.0), ("", None), ("-1", None), ("1e3", None), ("٣", None),
     ("999999", None), ("Fri, 20 Nov 2026 12:00:00 GMT", None)],
)  # fmt: skip
def test_retry_after_is_whole_seconds(said: str, seconds: float | None):
    answer = ProviderAnswer(status=429, headers=CIMultiDict({"retry-after": said}), body=b"")

    assert faults.retry_after(answer) == seconds


@pytest.mark.parametrize(
    ("failure", "word", "blamed"),
    [
        (providers.NotSupported(Reason.NOT_SUPPORTED), "rejected", False),
        (providers.NotFound(Reason.NOT_FOUND), "not_found", False),
        (providers.Refused(Reason.REFUSED), "rejected", False),
        (providers.CredentialsRefused(Reason.CREDENTIALS_REFUSED), "credentials_refused", False),
        (providers.RateLimited(Reason.RATE_LIMITED), "rate_limited", True),
        (providers.Unreachable(Reason.CONNECT_FAILED), "connect_error", True),
        (providers.Unreachable(Reason.BREAKER_OPEN), "breaker_open", True),
        (providers.Unreachable(Reason.BULKHEAD_FULL), "bulkhead_full", True),
        (providers.Unavailable(Reason.TIMEOUT), "timeout", True),
        (providers.Unavailable(Reason.CONNECTION_LOST), "unavailable", True),
        (providers.BadReply(Reason.NOT_JSON), "bad_response", True),
    ],
)
def test_every_failure_has_its_outcome_and_its_blame(
    failure: ProviderError, word: str, blamed: bool
):
    """A clear "no" is an answer like any other."""
    assert faults.outcome_word(failure) == word
    assert faults.blames_the_bank(failure) is blamed
