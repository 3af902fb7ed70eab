"""Answers given below the application."""

import asyncio
import json

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import BadHttpMessage, BadStatusLine, InvalidHeader, LineTooLong
from aiohttp.http_parser import HttpRequestParser
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.domain.kernel import errors
from gateway.net.server.reply import TOO_MANY_HEADERS, Refusals, describe, find_code, render
from gateway.net.server.request import BodyTooLarge, HeadTooLarge, MalformedBody, RequestTimeout
from gateway.telemetry import trace


def test_the_body_has_code_message_and_trace_id():
    """Contract part 7."""
    body = json.loads(render(errors.MALFORMED_REQUEST, "abc"))

    assert body == {
        "code": "SVC.VAL.011",
        "message": errors.MALFORMED_REQUEST.message,
        "trace_id": "abc",
    }


def test_an_answer_is_the_last_of_its_connection_and_not_to_be_kept():
    answer = Refusals().answer(errors.REQUEST_TIMEOUT, "abc")

    assert (answer.status, answer.closes, answer.trace_id) == (408, True, "abc")
    assert answer.headers == {
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "no-store",
    }


@pytest.mark.parametrize("error", [errors.DRAINING, errors.OVERLOADED], ids=lambda each: each.name)
def test_who_may_come_back_is_told_when(error):
    assert Refusals().answer(error, "abc").headers["Retry-After"] == "1"


def test_a_refusal_is_told_once_with_its_trace_id():
    told = []
    refusals = Refusals(on_refusal=lambda error, trace_id: told.append((error, trace_id)))

    refusals.answer(errors.MALFORMED_REQUEST, "abc")

    assert told == [(errors.MALFORMED_REQUEST, "abc")]


def test_the_body_can_be_made_by_another():
    answer = Refusals(render=lambda *_: b"{}").answer(errors.INTERNAL, "abc")

    assert answer.body == b"{}"


def test_a_caller_s_own_trace_id_is_kept_when_it_is_one():
    """One value of 1 to 128 unreserved characters."""
    sent = ([], ["order-1042"], ["a" * 129], ["a b"], ["a", "b"])
    refusals = Refusals(new_trace_id=lambda: "fresh")
    headers = [CIMultiDict([("X-Trace-ID", each) for each in values]) for values in sent]

    found = [refusals.find_trace_id(CIMultiDictProxy(each)) for each in headers]

    assert found == ["fresh", "order-1042", "fresh", "fresh", "fresh"]


async def test_the_trace_id_the_application_works_under_wins():
    headers = CIMultiDictProxy(CIMultiDict({"X-Trace-ID": "sent"}))
    trace.begin("working")

    found = Refusals().find_trace_id(headers)

    assert found == "working"


def test_a_problem_has_a_code():
    expected = [
        (RequestTimeout(), 400, errors.REQUEST_TIMEOUT),
        (BodyTooLarge(), 500, errors.BODY_TOO_LARGE),
        (HeadTooLarge(), 500, errors.HEADERS_TOO_LARGE),
        (MalformedBody(), 500, errors.MALFORMED_REQUEST),
        (LineTooLong(b"GET"), 400, errors.HEADERS_TOO_LARGE),
        (BadHttpMessage(TOO_MANY_HEADERS), 400, errors.HEADERS_TOO_LARGE),
        (BadHttpMessage("any other"), 400, errors.MALFORMED_REQUEST),
        (BadStatusLine("GET"), 400, errors.MALFORMED_REQUEST),
        (InvalidHeader("X"), 400, errors.MALFORMED_REQUEST),
        (AssertionError(), 400, errors.MALFORMED_REQUEST),
        (ValueError(), 500, errors.INTERNAL),
        (None, 504, errors.INTERNAL),
    ]

    assert [(each, at, find_code(each, at)) for each, at, _ in expected] == expected


async def test_too_many_headers_are_still_called_so():
    """No exception of its own says this; the words are all there is."""
    protocol = BaseProtocol(asyncio.get_running_loop())
    parser = HttpRequestParser(protocol, asyncio.get_running_loop(), 65536, max_headers=1)

    with pytest.raises(BadHttpMessage) as raised:
        parser.feed_data(b"GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\r\n")

    assert raised.value.message == TOO_MANY_HEADERS


def test_the_kind_and_the_place_are_told_and_the_message_is_not():
    """An error's message often quotes what it could not read."""
    told = describe(fail("gws_secret"))

    assert told.startswith("ValueError at test_reply_refusals.py:")
    assert "fail" in told
    assert "gws_secret" not in told


def test_a_fault_without_a_place_is_told_by_its_kind():
    assert describe(KeyError("secret")) == "KeyError at no place"


def test_no_fault_at_all_can_be_told():
    assert describe(None) == "an unknown error"


def fail(text: str) -> ValueError:
    try:
        int(text)
    except ValueError as problem:
        return problem
    raise AssertionError
