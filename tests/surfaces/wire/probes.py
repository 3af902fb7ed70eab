"""Bytes no well-meaning caller sends, and the answer each must get; and some that only look so."""

from typing import NamedTuple

from tests.world.raw_http import HOST

MARK = b"canary-5e1f"
GET = b"GET /" + MARK + b" HTTP/1.1\r\n"
POST = b"POST /" + MARK + b" HTTP/1.1\r\n"
END = b"\r\n"
CHUNKED = POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
NEXT = b"GET /smuggled HTTP/1.1\r\n" + HOST + END


class Probe(NamedTuple):
    """Bytes in portions, and the one answer they must get."""

    name: str
    portions: tuple[bytes, ...]
    status: int = 400
    code: str = "SVC.VAL.011"


def head(name: str, line: bytes, *, start: bytes = POST) -> Probe:
    """Send a request with one more header line, and a next request behind it."""
    return Probe(name, (start + HOST + line + b"\r\n\r\n" + b"hello" + NEXT,))


def chunk(name: str, body: bytes) -> list[Probe]:
    """
    Send a chunked body behind its headers, and once more in a segment of its own.

    aiohttp does not tell who waits for a body that its framing broke: it is late then.
    """
    return [
        Probe(f"{name}, one segment", (CHUNKED + body + NEXT,)),
        Probe(f"{name}, two segments", (CHUNKED, body + NEXT), 408, "SVC.GTW.004"),
    ]


def line(name: str, start: bytes, status: int = 400, code: str = "SVC.VAL.011") -> Probe:
    return Probe(name, (start + HOST + b"X-Mark: " + MARK + b"\r\n\r\n",), status, code)


LENGTHS = [
    head("CL and TE", b"Content-Length: 5\r\nTransfer-Encoding: chunked"),
    head("TE and CL", b"Transfer-Encoding: chunked\r\nContent-Length: 5"),
    head("CL twice, the same", b"Content-Length: 5\r\nContent-Length: 5"),
    head("CL twice, different", b"Content-Length: 5\r\nContent-Length: 6"),
    head("CL list", b"Content-Length: 5, 5"),
    head("CL plus", b"Content-Length: +5"),
    head("CL hexadecimal", b"Content-Length: 0x5"),
    head("CL underscore", b"Content-Length: 5_0"),
    head("CL negative", b"Content-Length: -1"),
    head("CL fraction", b"Content-Length: 5.0"),
    head("CL empty", b"Content-Length: "),
    head("CL inner space", b"Content-Length: 5 5"),
    head("CL 8-bit digit", b"Content-Length: \xb2"),
    head("CL Arabic digit", "Content-Length: ٥".encode()),
    head("CL huge", b"Content-Length: " + b"9" * 40),
    head("CL 2^64", b"Content-Length: 18446744073709551616"),
    head("CL 2^64 - 1", b"Content-Length: 18446744073709551615"),
    head("CL 19 digits", b"Content-Length: 1844674407370955161"),
    head("CL space before colon", b"Content-Length : 5"),
    head("CL tab before colon", b"Content-Length\t: 5"),
    head("CL folded", b"Content-Length:\r\n 5"),
]
CODINGS = [
    head("TE xchunked", b"Transfer-Encoding: xchunked"),
    head("TE identity", b"Transfer-Encoding: identity"),
    head("TE empty", b"Transfer-Encoding: "),
    head("TE chunked, identity", b"Transfer-Encoding: chunked, identity"),
    head("TE identity, chunked", b"Transfer-Encoding: identity, chunked"),
    head("TE gzip, chunked", b"Transfer-Encoding: gzip, chunked"),
    head("TE chunked, chunked", b"Transfer-Encoding: chunked, chunked"),
    head("TE comma chunked", b"Transfer-Encoding: , chunked"),
    head("TE chunked twice", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    head("TE two lines", b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"),
    head("TE folded", b"Transfer-Encoding:\r\n chunked"),
    head("TE vertical tab", b"Transfer-Encoding: \x0bchunked"),
    head("TE quoted", b'Transfer-Encoding: "chunked"'),
    head("TE parameter", b"Transfer-Encoding: chunked;q=1"),
    head("TE space before colon", b"Transfer-Encoding : chunked"),
    Probe("TE on HTTP/1.0", (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",)),
]
CHUNKS = [
    *chunk("size hexadecimal mark", b"0x5\r\nhello\r\n0\r\n\r\n"),
    *chunk("size plus", b"+5\r\nhello\r\n0\r\n\r\n"),
    *chunk("size negative", b"-5\r\nhello\r\n0\r\n\r\n"),
    *chunk("size underscore", b"0_5\r\nhello\r\n0\r\n\r\n"),
    *chunk("size space", b" 5\r\nhello\r\n0\r\n\r\n"),
    *chunk("size empty", b"\r\nhello\r\n0\r\n\r\n"),
    *chunk("size overflow", b"f" * 20 + b"\r\nhello\r\n0\r\n\r\n"),
    *chunk("bare LF behind the size", b"5\nhello\r\n0\r\n\r\n"),
    *chunk("bare LF behind the data", b"5\r\nhello\n0\r\n\r\n"),
    *chunk("bare CR behind the size", b"5\rhello\r\n0\r\n\r\n"),
    *chunk("LF in the extension", b"5;a\nb\r\nhello\r\n0\r\n\r\n"),
    *chunk("no line end behind the data", b"5\r\nhello0\r\n\r\n"),
    *chunk("data longer than its size", b"4\r\nhello\r\n0\r\n\r\n"),
    *chunk("CL in the trailer", b"5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n"),
    *chunk("TE in the trailer", b"5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
    *chunk("NUL in the trailer", b"5\r\nhello\r\n0\r\nX-A: \0\r\n\r\n"),
    Probe("blank lines before, a second end", (END * 2 + CHUNKED + b"0\r\n\r\n0\r\n\r\n",)),
]
HEADERS = [
    head("NUL in a value", b"X-A: " + MARK + b"\0", start=GET),
    head("control in a value", b"X-A: " + MARK + b"\x01", start=GET),
    head("bare CR in a value", b"X-A: " + MARK + b"\rX-B: 1", start=GET),
    head("bare LF between headers", b"X-A: " + MARK + b"\nX-B: 1", start=GET),
    head("fold", b"X-A: 1\r\n " + MARK, start=GET),
    head("fold with tab", b"X-A: 1\r\n\t" + MARK, start=GET),
    head("space in a name", b"X A: " + MARK, start=GET),
    head("8-bit in a name", b"X-\xff: " + MARK, start=GET),
    head("no name", b": " + MARK, start=GET),
    head("no colon", MARK, start=GET),
    head("malformed credential line", b"Authorization Basic " + MARK, start=GET),
    head("two Hosts", b"Host: " + MARK, start=GET),
    Probe("space before the first header", (GET + b" " + HOST + END,)),
    Probe("no Host", (GET + b"X-A: 1\r\n\r\n",)),
    Probe("Host with a path", (GET + b"Host: a/" + MARK + b"\r\n\r\n",)),
    Probe("Host with a user", (GET + b"Host: " + MARK + b"@a\r\n\r\n",)),
    Probe("Host with a space", (GET + b"Host: a " + MARK + b"\r\n\r\n",)),
    Probe("Host with port 65536", (GET + b"Host: a:65536\r\n\r\n",)),
    Probe("Host with a port that is none", (GET + b"Host: a:" + MARK + b"\r\n\r\n",)),
    Probe("Host list", (GET + b"Host: a, " + MARK + b"\r\n\r\n",)),
]
LINES = [
    line("two blanks before the target", b"GET  /" + MARK + b" HTTP/1.1\r\n"),
    line("two blanks before the version", b"GET /" + MARK + b"  HTTP/1.1\r\n"),
    line("tab before the target", b"GET\t/" + MARK + b" HTTP/1.1\r\n"),
    line("blank behind the version", b"GET /" + MARK + b" HTTP/1.1 \r\n"),
    Probe("HTTP/0.9 without a version", (b"GET /" + MARK + b"\r\n\r\n",)),
    line("HTTP/0.9", b"GET / HTTP/0.9\r\n"),
    line("HTTP/1.2", b"GET / HTTP/1.2\r\n"),
    line("RTSP/1.0", b"GET / RTSP/1.0\r\n"),
    line("HTTP/2.0", b"GET / HTTP/2.0\r\n"),
    line("HTTP/3.0", b"GET / HTTP/3.0\r\n"),
    line("HTTP/1.10", b"GET / HTTP/1.10\r\n"),
    line("HTTP/01.1", b"GET / HTTP/01.1\r\n"),
    line("HTTP/1", b"GET / HTTP/1\r\n"),
    line("version in lower case", b"GET / http/1.1\r\n"),
    Probe("HTTP/2 preface", (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",)),
    line("method in lower case", b"get / HTTP/1.1\r\n"),
    line("method unknown", b"STEAL / HTTP/1.1\r\n"),
    line("method with 8-bit", b"G\xc3\x89T / HTTP/1.1\r\n"),
    line("method endless", b"G" * 5000 + b" / HTTP/1.1\r\n"),
    line("CONNECT", b"CONNECT " + MARK + b":443 HTTP/1.1\r\n"),
    line("space before the method", b" GET / HTTP/1.1\r\n"),
    line("space in the target", b"GET /a " + MARK + b" HTTP/1.1\r\n"),
    line("space behind the version", b"GET / HTTP/1.1 \r\n"),
    line("tabs", b"GET\t/\tHTTP/1.1\r\n"),
    line("no target", b"GET HTTP/1.1\r\n"),
    line("target without a slash", b"GET " + MARK + b" HTTP/1.1\r\n"),
    line("target asterisk", b"GET * HTTP/1.1\r\n"),
    line("target with a fragment", b"GET /#" + MARK + b" HTTP/1.1\r\n"),
    line("target with NUL", b"GET /\0" + MARK + b" HTTP/1.1\r\n"),
    line("target with DEL", b"GET /\x7f HTTP/1.1\r\n"),
    line("target with 8-bit", b"GET /\xff HTTP/1.1\r\n"),
    line("target with UTF-8", "GET /ação HTTP/1.1\r\n".encode()),
    line("target of another scheme", b"GET ftp://" + MARK + b"/ HTTP/1.1\r\n"),
    line("target without a path", b"GET http://" + MARK + b" HTTP/1.1\r\n"),
    line("target with a query for a path", b"GET http://a?" + MARK + b" HTTP/1.1\r\n"),
    line("target without a host", b"GET http:///" + MARK + b" HTTP/1.1\r\n"),
    line("target with a broken host", b"GET http://[::1/ HTTP/1.1\r\n"),
    line("target with a broken port", b"GET http://a:99999/ HTTP/1.1\r\n"),
    line("bare LF", b"GET / HTTP/1.1\n"),
    line("bare CR", b"GET / HTTP/1.1\r"),
    Probe("TLS hello", (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + MARK,)),
    Probe("SSH banner", (b"SSH-2.0-" + MARK + b"\r\n",)),
    Probe("noise", (bytes(range(128, 256)) + MARK,)),
]
SIZES = [
    line("line of 17 KiB", b"GET /" + b"a" * 17_000 + b" HTTP/1.1\r\n", 431, "SVC.GTW.007"),
    line("line one byte over", b"GET /" + b"a" * 16_371 + b" HTTP/1.1\r\n", 431, "SVC.GTW.007"),
    Probe("line without an end", (b"GET /" + b"a" * 300_000,), 431, "SVC.GTW.007"),
    Probe("line in portions", (b"GET /" + b"a" * 9000, b"a" * 9000), 431, "SVC.GTW.007"),
    head("header of 9 KB", b"X-A: " + b"a" * 9000)._replace(status=431, code="SVC.GTW.007"),
    line("header one byte over", GET + b"X-A: " + b"a" * 8186 + END, 431, "SVC.GTW.007"),
    head("name of 9 KB", b"a" * 9000 + b": 1")._replace(status=431, code="SVC.GTW.007"),
    head("64 more headers", b"\r\n".join([b"X-A: 1"] * 64))._replace(
        status=431, code="SVC.GTW.007"
    ),
    head("200 headers", b"\r\n".join([b"X-A: 1"] * 200))._replace(status=431, code="SVC.GTW.007"),
    Probe("header without an end", (GET + HOST + b"X-A: " + b"a" * 300_000,), 431, "SVC.GTW.007"),
]
LATE = [
    Probe("half a method", (b"GE",), 408, "SVC.GTW.004"),
    Probe("half a line", (b"GET /" + MARK,), 408, "SVC.GTW.004"),
    Probe("half a header", (GET + HOST + b"X-A: " + MARK,), 408, "SVC.GTW.004"),
    Probe("no blank line", (GET + HOST,), 408, "SVC.GTW.004"),
    Probe("no body", (POST + HOST + b"Content-Length: 5\r\n\r\n",), 408, "SVC.GTW.004"),
    Probe("half a body", (POST + HOST + b"Content-Length: 5\r\n\r\nhel",), 408, "SVC.GTW.004"),
    Probe("no chunk", (CHUNKED,), 408, "SVC.GTW.004"),
    Probe("half a chunk", (CHUNKED + b"5\r\nhel",), 408, "SVC.GTW.004"),
    Probe("no last chunk", (CHUNKED + b"5\r\nhello\r\n",), 408, "SVC.GTW.004"),
    Probe("half a method behind blank lines", (b"\r\n\r\nPOST",), 408, "SVC.GTW.004"),
]
ACCEPTED = [
    (b"GET / HTTP/1.1\r\n" + HOST + END, "/", b""),
    (b"\r\n\r\nGET / HTTP/1.1\r\n" + HOST + END, "/", b""),
    (b"GET / HTTP/1.1\r\nhOST: pixgate:8080\r\n\r\n", "/", b""),
    (b"GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "/", b""),
    (b"GET / HTTP/1.1\r\nHost:\r\n\r\n", "/", b""),
    (b"GET http://other/path HTTP/1.1\r\n" + HOST + END, "/path", b""),
    (b"GET / HTTP/1.0\r\n\r\n", "/", b""),
    (b"GET /" + b"a" * 16_370 + b" HTTP/1.1\r\n" + HOST + END, "/" + "a" * 16_370, b""),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X-A: " + b"a" * 8185 + b"\r\n\r\n", "/", b""),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X-A: 1\r\n" * 63 + END, "/", b""),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X-A: \xe9\r\n\r\n", "/", b""),
    (b"GET / HTTP/1.1\r\n" + HOST + b"Upgrade: h2c\r\nConnection: upgrade\r\n\r\n", "/", b""),
    (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", "/", b"hello"),
    (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 005\r\n\r\nhello", "/", b"hello"),
    (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", "/" + MARK.decode(), b"hello"),
    (CHUNKED + b"5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n", "/" + MARK.decode(), b"hello"),
    (CHUNKED.replace(b"chunked", b"Chunked") + b"0\r\n\r\n", "/" + MARK.decode(), b""),
    (b"POST / HTTP/1.1\r\n" + HOST + b"Expect: a-miracle\r\nContent-Length: 1\r\n\r\na", "/", b"a"),
]

GROUPS = {
    "lengths": LENGTHS,
    "codings": CODINGS,
    "chunks": [each for each in CHUNKS if each.status == 400],
    "headers": HEADERS,
    "lines": LINES,
    "sizes": SIZES,
    "late": LATE + [each for each in CHUNKS if each.status == 408],
}
