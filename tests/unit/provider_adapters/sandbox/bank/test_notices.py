"""What the bank tells, and to whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from provider_adapters.sandbox.bank import notices
from provider_adapters.sandbox.bank.books import Books, open_books
from provider_adapters.sandbox.bank.notices import Listener
from tests.unit.standing import Clock

_TOLD = "INSERT INTO notices (id, kind, account_id, subject, copies) VALUES (?, ?, 'c', 's', ?)"


class Ear:
    """Somebody who listens, and may answer otherwise."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, str]]] = []
        self.status = 200

    async def hear(self, request: web.Request) -> web.Response:
        self.heard.append((request.headers["X-Event"], json.loads(await request.read())))
        return web.Response(status=self.status)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def books(tmp_path: Path, clock: Clock) -> Books:
    made = open_books(
        str(tmp_path / "bank.db"), now=clock.now, random_hex=lambda n: "0" * n, settle_after_s=0
    )
    made.database.run("DELETE FROM notices")
    return made


@pytest.fixture
async def ear() -> AsyncIterator[tuple[Ear, Listener]]:
    one, application = Ear(), web.Application()
    application.router.add_post("/", one.hear)
    async with TestServer(application) as server:
        url = str(server.make_url("/"))
        yield one, Listener(lambda: url, _sign)


def _sign(event: str, _at: datetime, _body: bytes) -> dict[str, str]:
    return {"X-Event": event}


async def telling(books: Books, listener: Listener) -> int:
    async with aiohttp.ClientSession() as session:
        return await notices.tell(books, listener, session)


def left(books: Books) -> int:
    row = books.database.one("SELECT count(*) AS n FROM notices")
    assert row is not None
    return int(row["n"])


async def test_what_is_taken_is_told_once(books: Books, ear: tuple[Ear, Listener]):
    one, listener = ear
    books.database.run(_TOLD, ("evt_1", "transferencia", 1))
    books.database.run(_TOLD, ("evt_2", "cobranca", 1))

    taken = await telling(books, listener)
    again = await telling(books, listener)

    assert (taken, again, left(books)) == (2, 0, 0)
    assert one.heard == [
        ("evt_1", {"tipo": "transferencia", "conta": "c", "chave": "s"}),
        ("evt_2", {"tipo": "cobranca", "conta": "c", "referencia": "s"}),
    ]


async def test_a_duplicate_is_told_twice_under_one_name(books: Books, ear: tuple[Ear, Listener]):
    one, listener = ear
    books.database.run(_TOLD, ("evt_1", "transferencia", 2))

    await telling(books, listener)

    assert [event for event, _ in one.heard] == ["evt_1", "evt_1"]


async def test_what_is_not_taken_is_told_again_later_and_then_given_up(
    books: Books, ear: tuple[Ear, Listener], clock: Clock
):
    one, listener = ear
    one.status = 503
    books.database.run(_TOLD, ("evt_1", "transferencia", 1))

    for tries in range(6):
        await telling(books, listener)
        assert await telling(books, listener) == 0
        assert len(one.heard) == tries + 1
        clock.passes(2**tries)

    assert left(books) == 0


async def test_whoever_does_not_listen_is_told_later(books: Books):
    books.database.run(_TOLD, ("evt_1", "transferencia", 1))

    await telling(books, Listener(lambda: "http://127.0.0.1:1/", _sign))
    await telling(books, Listener(lambda: "", _sign))

    assert left(books) == 1


def test_where_nobody_listens_nothing_is_kept(books: Books):
    books.database.run(_TOLD, ("evt_1", "transferencia", 1))

    notices.forget(books)

    assert left(books) == 0


async def test_it_tells_until_it_is_stopped(books: Books, ear: tuple[Ear, Listener]):
    one, listener = ear
    task = asyncio.create_task(notices.tell_for_ever(books, listener))
    books.database.run(_TOLD, ("evt_1", "transferencia", 1))

    async with asyncio.timeout(5):
        while not one.heard:
            await asyncio.sleep(0.01)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
