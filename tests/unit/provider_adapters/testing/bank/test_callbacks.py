"""What the bank tells, and to whom."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from provider_adapters.testing.bank.callbacks import CallbackListener, Delivery
from provider_adapters.testing.bank.kernel import listeners
from provider_adapters.testing.bank.kernel.books import Books, open_books
from provider_adapters.testing.bank.kernel.listeners import EventKind
from provider_adapters.testing.sandbox.dialect import SANDBOX
from tests.world.standing import Clock
from tests.world.waiting import until

_INSERT = "INSERT INTO notices (id, kind, account_id, subject, copies) VALUES (?, ?, 'c', 's', ?)"


class Receiver:
    """A server that receives callbacks and answers with a status of choice."""

    def __init__(self) -> None:
        self.received: list[tuple[str, dict[str, str]]] = []
        self.status = 200

    async def receive(self, request: web.Request) -> web.Response:
        self.received.append((request.headers["Webhook-Id"], json.loads(await request.read())))
        return web.Response(status=self.status)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def books(tmp_path: Path, clock: Clock) -> Books:
    numbers = itertools.count(1)
    made = open_books(
        str(tmp_path / "bank.db"),
        now=clock.now,
        random_hex=lambda size: f"{next(numbers):0{2 * size}x}",
        settle_after_s=0,
    )
    made.database.run("DELETE FROM notices")
    return made


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[Receiver, CallbackListener]]:
    server, application = Receiver(), web.Application()
    application.router.add_post("/", server.receive)
    async with TestServer(application) as served:
        url = str(served.make_url("/"))
        yield server, CallbackListener(lambda: url, "")


async def send_due(books: Books, listener: CallbackListener | None) -> int:
    async with aiohttp.ClientSession() as session:
        return await Delivery(books, SANDBOX, listener).send_due(session)


def pending(books: Books) -> int:
    row = books.database.one("SELECT count(*) AS n FROM notices")
    assert row is not None
    return int(row["n"])


async def test_an_accepted_callback_is_sent_once(
    books: Books, receiver: tuple[Receiver, CallbackListener]
):
    server, listener = receiver
    books.database.run(_INSERT, ("evt_1", "transferencia", 1))
    books.database.run(_INSERT, ("evt_2", "cobranca", 1))

    taken = await send_due(books, listener)
    again = await send_due(books, listener)

    assert (taken, again, pending(books)) == (2, 0, 0)
    assert server.received == [
        ("evt_1", {"tipo": "transferencia", "conta": "c", "chave": "s"}),
        ("evt_2", {"tipo": "cobranca", "conta": "c", "referencia": "s"}),
    ]


async def test_a_duplicate_is_sent_twice_with_one_id(
    books: Books, receiver: tuple[Receiver, CallbackListener]
):
    server, listener = receiver
    books.database.run(_INSERT, ("evt_1", "transferencia", 2))

    await send_due(books, listener)

    assert [event for event, _ in server.received] == ["evt_1", "evt_1"]


async def test_a_refused_callback_is_repeated_later_and_then_given_up(
    books: Books, receiver: tuple[Receiver, CallbackListener], clock: Clock
):
    server, listener = receiver
    server.status = 503
    books.database.run(_INSERT, ("evt_1", "transferencia", 1))

    for tries in range(6):
        await send_due(books, listener)
        assert await send_due(books, listener) == 0
        assert len(server.received) == tries + 1
        clock.passes(2**tries)

    assert [each.id for each in listeners.missed(books, "c", 2)] == ["evt_1"]


async def test_a_callback_waits_for_its_listener(books: Books):
    books.database.run(_INSERT, ("evt_1", "transferencia", 1))

    await send_due(books, CallbackListener(lambda: "http://127.0.0.1:1/", ""))
    await send_due(books, CallbackListener(lambda: "", ""))

    assert pending(books) == 1


async def test_what_nobody_is_to_get_is_not_kept(books: Books):
    books.database.run(_INSERT, ("evt_1", "transferencia", 1))

    assert await send_due(books, None) == 0
    assert pending(books) == 0


@pytest.fixture
def account(books: Books) -> str:
    """An account that may register addresses."""
    books.database.run(
        "INSERT INTO accounts (id, token_digest, name, tax_number, branch, number, city,"
        " zip_code, payout_kind, created_at) VALUES ('c', '', '', '', '', '', '', '', '', 0)"
    )
    return "c"


async def test_an_address_of_the_account_gets_it_too(
    books: Books, account: str, receiver: tuple[Receiver, CallbackListener]
):
    """Once where both are one address, and signed as was registered."""
    server, listener = receiver
    books.database.run(_INSERT, ("evt_1", "transferencia", 1))
    listeners.add(books, account, listener.url(), "00")
    listeners.add(books, account, listener.url() + "?other", "00")

    assert await send_due(books, listener) == 1
    assert [event for event, _ in server.received] == ["evt_1", "evt_1"]
    assert pending(books) == 0


async def test_what_is_given_up_is_kept_for_its_customer(
    books: Books,
    account: str,
    receiver: tuple[Receiver, CallbackListener],
    clock: Clock,
):
    server, listener = receiver
    server.status = 503
    books.database.run(_INSERT, ("evt_1", "transferencia", 1))

    for tries in range(6):
        await send_due(books, listener)
        clock.passes(2**tries)

    (missed,) = listeners.missed(books, account, 10)
    assert missed.id == "evt_1"
    assert (missed.kind, missed.subject) == (EventKind.PAYOUT, "s")


async def test_callbacks_are_sent_until_the_task_is_cancelled(
    books: Books, receiver: tuple[Receiver, CallbackListener]
):
    server, listener = receiver
    task = asyncio.create_task(Delivery(books, SANDBOX, listener).send_until_cancelled())
    books.database.run(_INSERT, ("evt_1", "transferencia", 1))

    await until(lambda: server.received)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
