"""Headers as every operation has them."""

import pytest

from gateway.core import errors
from gateway.http.openapi.examples import ANSWER_HEADERS, REQUEST_HEADERS, answer_headers


@pytest.mark.parametrize(
    ("status", "names"),
    [
        (200, {"X-Trace-ID"}),
        (401, {"X-Trace-ID", "WWW-Authenticate"}),
        (502, {"X-Trace-ID", "Retry-After"}),
        (503, {"X-Trace-ID", "Retry-After"}),
    ],
)
def test_a_status_brings_its_headers(status: int, names: set[str]):
    assert set(answer_headers(status, [])) == names


def test_where_calls_are_counted_what_is_left_is_shown():
    shown = answer_headers(429, [errors.TOO_MANY_REQUESTS])

    assert set(shown) == {"X-Trace-ID", "RateLimit", "RateLimit-Policy", "Retry-After"}


def test_every_reference_leads_somewhere():
    shown = {**answer_headers(401, [errors.TOO_MANY_REQUESTS]), **answer_headers(503, [])}

    assert {each["$ref"].rpartition("/")[2] for each in shown.values()} <= set(ANSWER_HEADERS)


def test_headers_that_are_sent_may_be_absent():
    assert [name for name, each in REQUEST_HEADERS.items() if each["required"]] == []
