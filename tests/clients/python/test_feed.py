"""What a feed is asked for."""

from __future__ import annotations

from collections.abc import Iterable

import httpx
import pytest

from pixgate_client import AsyncClient, Client

ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
ASKED: list[tuple[tuple[str, ...], str | Iterable[str], str]] = [
    ((), (), "limit=100&wait=0"),
    (("",), (), "limit=100&wait=0"),
    (("c1",), ["a.paid", "a.failed"], "after=c1&types=a.paid%2Ca.failed&limit=100&wait=0"),
    (("c1",), "payout.paid", "after=c1&types=payout.paid&limit=100&wait=0"),
]


class Gateway:
    """Answers every call with an empty page, and keeps the query."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def reply(self, request: httpx.Request) -> httpx.Response:
        self.queries.append(request.url.query.decode())
        return httpx.Response(200, json={"data": [], "next": "c2"})

    def client(self) -> Client:
        http = httpx.Client(transport=httpx.MockTransport(self.reply))
        return Client("https://pix.example.com", ACCOUNT, "cli_1", "gws_1", http=http)

    def async_client(self) -> AsyncClient:
        http = httpx.AsyncClient(transport=httpx.MockTransport(self.reply))
        return AsyncClient("https://pix.example.com", ACCOUNT, "cli_1", "gws_1", http=http)


@pytest.mark.parametrize(("after", "types", "query"), ASKED)
async def test_a_feed_begins_behind_the_cursor_with_one_type_or_several(
    after: tuple[str, ...], types: str | Iterable[str], query: str
):
    gateway = Gateway()

    seen = list(gateway.client().events(*after, types=types, wait_s=0))
    also = [each async for each in gateway.async_client().events(*after, types=types, wait_s=0)]

    assert (seen, also) == ([], [])
    assert gateway.queries == [query] * 2


def test_a_cursor_that_was_never_stored_begins_anew():
    gateway = Gateway()

    list(gateway.client().events(None, wait_s=0))

    assert gateway.queries == ["limit=100&wait=0"]


@pytest.mark.parametrize("after", [7, b"c1", ["c1"], {"after": "c1"}])
def test_an_invalid_cursor_is_refused_before_a_request(after: object):
    gateway = Gateway()

    for client in (gateway.client(), gateway.async_client()):
        with pytest.raises(TypeError, match="cursor"):
            client.events(after)  # type: ignore[arg-type]  # what a program may pass

    assert gateway.queries == []
