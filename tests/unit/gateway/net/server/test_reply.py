"""Answers as bytes."""

import re

import pytest

from gateway.net.server.reply import Reply, UnwritableReply, reply_format, to_bytes

PLAIN = reply_format((1, 1), keeps=True, bodiless=False)


def test_head_and_body_are_one_piece():
    reply = Reply(body=b"ab", headers={"X-A": "1"}, trace_id="t")

    written = to_bytes(reply, PLAIN)

    head, _, body = written.decode().partition("\r\n\r\n")
    *lines, date = head.split("\r\n")
    assert lines == ["HTTP/1.1 200 OK", "X-Trace-ID: t", "X-A: 1", "Content-Length: 2"]
    assert re.fullmatch(r"Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", date)
    assert body == "ab"


def test_the_connection_is_told_of_where_it_is_not_as_expected():
    cases = [
        ((1, 1), True, b"HTTP/1.1 ", b""),
        ((1, 1), False, b"HTTP/1.1 ", b"\r\nConnection: close\r\n"),
        ((1, 0), True, b"HTTP/1.0 ", b"\r\nConnection: keep-alive\r\n"),
        ((1, 0), False, b"HTTP/1.0 ", b"\r\nConnection: close\r\n"),
    ]
    for version, keeps, start, line in cases:
        written = to_bytes(Reply(), reply_format(version, keeps=keeps, bodiless=False))

        assert written.startswith(start)
        assert line in written
        assert (b"Connection" in written) is bool(line)


def test_cookies_have_a_line_each():
    written = to_bytes(Reply(headers={"X-A": "1"}, cookies=["a=1", "b=2"], trace_id="t"), PLAIN)

    assert b"X-A: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n" in written


def test_a_cookie_that_would_break_out_of_its_line_is_not_written():
    with pytest.raises(UnwritableReply):
        to_bytes(Reply(cookies=["a=1\r\nX-B: 2"]), PLAIN)


def test_head_is_told_how_much_there_would_be():
    written = to_bytes(Reply(body=b"abc"), reply_format((1, 1), keeps=True, bodiless=True))

    assert b"Content-Length: 3\r\n" in written
    assert written.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("status", [204, 304])
def test_what_has_no_content_has_no_length(status):
    """RFC 9110, 8.6."""
    assert b"Content-Length" not in to_bytes(Reply(status=status), PLAIN)


def test_a_status_without_a_phrase_is_written_too():
    assert to_bytes(Reply(status=299), PLAIN).startswith(b"HTTP/1.1 299 \r\n")


def test_a_header_cannot_break_out_of_its_line():
    cases = [
        {"X-A": "1\r\nX-B: 2"},
        {"X-A": "1\n"},
        {"X-A": "1\r"},
        {"X-A\r\nX-B": "1"},
        {"X-A": "\0"},
        {"X-A": "\ud800"},
    ]
    for headers in cases:
        with pytest.raises(UnwritableReply):
            to_bytes(Reply(headers=headers), PLAIN)


def test_a_trace_id_cannot_break_out_of_its_line():
    with pytest.raises(UnwritableReply):
        to_bytes(Reply(trace_id="a\r\nX-B: 1"), PLAIN)
