"""Answers given below the application."""

import json

import pytest

from gateway.core import errors
from gateway.net.server.refusals import Refusals, error_body, to_bytes
from tests.world.raw_http import split


def test_a_refusal_body_has_code_message_and_trace_id():
    """Contract part 7."""
    body = json.loads(error_body(errors.MALFORMED_REQUEST, "abc"))

    assert body == {
        "code": "SVC.VAL.011",
        "message": errors.MALFORMED_REQUEST.message,
        "trace_id": "abc",
    }


def test_a_refusal_has_our_headers_and_is_not_cacheable():
    answer = Refusals(new_trace_id=lambda: "abc").answer(errors.REQUEST_TIMEOUT)

    assert answer.status == 408
    assert answer.headers == {
        "X-Trace-ID": "abc",
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "no-store",
        "Server": "pixgate",
    }


def test_a_retryable_refusal_has_retry_after():
    assert Refusals().answer(errors.DRAINING).headers["Retry-After"] == "1"


@pytest.mark.parametrize("is_bodiless", [False, True])
def test_a_refusal_is_written_by_hand_when_aiohttp_cannot_answer(is_bodiless: bool):
    """An answer to HEAD has no body even then, but has its length."""
    written = to_bytes(Refusals().answer(errors.MALFORMED_REQUEST), is_bodiless=is_bodiless)

    (answer,) = split(written + (b"" if not is_bodiless else b"x" * 115))
    assert answer.status == 400
    assert answer.headers["connection"] == "close"
    assert written.endswith(b"\r\n\r\n") is is_bodiless


def test_a_refusal_is_reported_once_with_its_trace_id():
    told = []
    refusals = Refusals(
        new_trace_id=lambda: "abc",
        on_refusal=lambda error, trace_id: told.append((error, trace_id)),
    )

    refusals.answer(errors.MALFORMED_REQUEST)

    assert told == [(errors.MALFORMED_REQUEST, "abc")]
