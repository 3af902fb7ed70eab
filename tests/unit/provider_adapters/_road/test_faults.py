"""Failures by their names."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from gateway.domain.bank import providers
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import ProviderError
from gateway.net.client.messages import ProviderAnswer, SendProgress
from provider_adapters._road import faults


@pytest.mark.parametrize("sent", [False, True])
def test_time_that_is_over_is_named_by_whether_a_byte_left(sent: bool):
    progress = SendProgress()
    if sent:
        progress.sending()

    failure = faults.timed_out(progress)

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
        (providers.Unreachable(Reason.CERTIFICATE_REFUSED), "connect_error", False),
        (providers.Unavailable(Reason.CERTIFICATE_REFUSED), "unavailable", False),
        (providers.BadReply(Reason.NOT_JSON), "bad_response", True),
    ],
)
def test_every_failure_has_its_outcome_and_its_blame(
    failure: ProviderError, word: str, blamed: bool
):
    """A clear "no" is an answer like any other."""
    assert faults.outcome_word(failure) == word
    assert faults.blames_the_bank(failure) is blamed
