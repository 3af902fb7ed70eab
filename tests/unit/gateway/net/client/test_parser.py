"""The one parser that was proven, or none."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from aiohttp import http_parser

from gateway.net.client.parser import UnfitParser, make_parser, require_parser


def test_what_is_installed_is_the_proven_parser():
    require_parser()


def test_another_minor_version_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(aiohttp, "__version__", "3.15.0")

    with pytest.raises(UnfitParser, match=r"3\.14"):
        require_parser()


def test_the_parser_in_python_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_parser, "HttpResponseParser", http_parser.HttpResponseParserPy)

    with pytest.raises(UnfitParser, match="C parser"):
        require_parser()


async def test_a_parser_serves_all_answers_of_its_connection():
    parser = make_parser(asyncio.get_running_loop())
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    first, second = (parser.feed_data(answer)[0][0] for _ in range(2))

    assert first[0].code == second[0].code == 200
    assert first[1].is_eof()
    assert second[1].read_nowait() == b"{}"


async def test_a_body_of_many_parts_is_never_paused():
    """A pause would leave bytes with the parser that nobody asks for again."""
    parser = make_parser(asyncio.get_running_loop())
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    [(_, body)] = parser.feed_data(head + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n")[0]

    assert body.is_eof()
    assert len(body.read_nowait()) == 100_000
