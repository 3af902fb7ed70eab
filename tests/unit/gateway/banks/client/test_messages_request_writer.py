"""What leaves us is one request, as it was meant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from yarl import URL

from gateway.banks.client.messages import ProviderRequest, RequestWriter
from gateway.banks.port.providers import Unreachable


def heads(base: str = "https://bank.example:8443/api", states: Sequence[str] = ()) -> RequestWriter:
    """Write heads; ``states`` are those of the calls, one after the other."""
    given = iter(states)
    return RequestWriter(URL(base), lambda: ("trace-1", "00-1-2-01", next(given, "")))


def asked(
    method: str = "GET", path: str = "/v1?a=%2F", body: bytes = b"", **headers: str
) -> ProviderRequest:
    return ProviderRequest(
        operation="x", method=method, template="/", path=path, headers=headers, body=body
    )


def test_a_read_request_is_written_byte_for_byte():
    written = heads().write(asked(Authorization="Bearer 100%s"))

    assert written == (
        b"GET /api/v1?a=%2F HTTP/1.1\r\n"
        b"Host: bank.example:8443\r\n"
        b"Accept-Encoding: identity\r\n"
        b"Accept: application/json\r\n"
        b"User-Agent: pixgate\r\n"
        b"X-Trace-ID: trace-1\r\n"
        b"traceparent: 00-1-2-01\r\n"
        b"Authorization: Bearer 100%s\r\n"
        b"\r\n"
    )


def test_a_caller_s_tracestate_is_sent_after_our_traceparent():
    written = heads(states=["a=1", "", "b=%s"])

    lines = [written.write(asked(Authorization="Bearer t")).split(b"\r\n") for _ in range(3)]

    assert lines[0][5:9] == [
        b"X-Trace-ID: trace-1", b"traceparent: 00-1-2-01", b"tracestate: a=1",
        b"Authorization: Bearer t",
    ]  # fmt: skip
    assert b"tracestate: b=%s" in lines[2]
    assert not any(line.startswith(b"tracestate") for line in lines[1])


def test_a_request_with_a_body_has_content_length_and_type():
    written = heads().write(asked("POST", body=b'{"a":"\xc3\xa7"}'))

    assert written.endswith(b"\r\nContent-Length: 10\r\n\r\n" + b'{"a":"\xc3\xa7"}')
    assert b"\r\nContent-Type: application/json\r\n" in written


def test_a_post_without_a_body_has_content_length_zero():
    assert b"\r\nContent-Length: 0\r\n" in heads().write(asked("POST"))


def test_headers_of_the_adapter_replace_our_defaults():
    written = heads().write(
        asked("POST", body=b"<x/>", **{"content-type": "text/xml", "ACCEPT": "text/xml"})
    )

    assert written.lower().count(b"content-type:") == 1
    assert written.lower().count(b"accept:") == 1
    assert b"content-type: text/xml\r\n" in written


def test_a_cached_head_serves_other_paths_and_headers():
    both = heads()

    written = [
        both.write(asked(path=f"/{step}", **headers))
        for step in "ab"
        for headers in ({}, {"A": step})
    ]

    assert [line.split(b"\r\n")[0] for line in written] == [
        b"GET /api/a HTTP/1.1", b"GET /api/a HTTP/1.1",
        b"GET /api/b HTTP/1.1", b"GET /api/b HTTP/1.1",
    ]  # fmt: skip
    assert [b"A: " in line for line in written] == [False, True, False, True]


def test_cached_heads_are_kept_apart_by_kind_of_request():
    """Written twice: the second time from the cache."""
    names = ({}, {"Accept": "text/xml"}, {"X": "y"})
    for _ in range(2):
        for host, method, body, last, headers in product(
            ("one", "two"), ("GET", "POST"), (b"", b"{}"), (False, True), names
        ):
            written = heads(f"https://{host}").write(asked(method, body=body, **headers), last=last)
            head = written.partition(b"\r\n\r\n")[0].split(b"\r\n")

            assert head[0].startswith(method.encode())
            assert head[1] == f"Host: {host}".encode()
            assert (b"Connection: close" in head) == last
            assert (b"Content-Type: application/json" in head) == bool(body)
            assert (b"Accept: application/json" in head) == ("Accept" not in headers)


def test_a_zone_in_the_host_is_written_literally():
    assert b"Host: [fe80::1%25s]\r\n" in heads("https://[fe80::1%25s]").write(asked())


def test_ambiguous_input_is_not_sent():
    """Never as another path, another header or a second request."""
    bad = [
        asked(path="/a b"), asked(path="/a\r\nX: y"), asked(path="a"), asked(path=""),
        asked(path="/\u00e7"), asked(path="/\x7f"),
        asked("GET /x HTTP/1.1\r\nX:"), asked("%s"), asked(""),
        asked(A="b\r\nC: d"), asked(A="b\n"), asked(A="\x00"), asked(A="\u00e7"), asked(A="\t"),
        asked(**{"A B": "c"}), asked(**{"A:": "c"}), asked(**{"": "c"}), asked(**{"%s": "c"}),
        asked(**{"Content-Length": "7"}), asked(**{"transfer-encoding": "chunked"}),
        asked(Host="elsewhere"), asked(Connection="close"), asked(**{"X-Trace-ID": "y"}),
        asked(traceparent="00-1-2-01"),
        asked(tracestate="a=1"),
        asked(A="1", a="2"),
    ]  # fmt: skip
    writer = heads()
    sent = []
    for request in bad:
        try:
            sent.append(writer.write(request))
        except Unreachable as refused:
            assert refused.reason == "unsendable"  # noqa: PT017 - each of many is refused

    assert sent == []
