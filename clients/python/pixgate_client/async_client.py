"""The client for programs with an event loop. Each call is that of ``Client``."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import NoReturn, Self

import httpx

from pixgate_client import model
from pixgate_client.calls import Calls, FeedPart, Window, cursor_text, placed, type_list
from pixgate_client.connection import Connection, Sign, no_answer
from pixgate_client.exchange import Answer, Flow, Reply, Request, T
from pixgate_client.orders import Order
from pixgate_client.retries import Clock


class AsyncClient:
    """Calls a gateway for one account, as ``Client`` does. May be shared by tasks of one loop."""

    def __init__(  # noqa: PLR0913 - as those of Client
        self,
        base_url: str,
        account_id: str,
        client_id: str,
        client_secret: str,
        *,
        read_deadline_s: float = 30.0,
        allow_http: bool = False,
        sign: Sign | None = None,
        http: httpx.AsyncClient | None = None,
        clock: Clock | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare as ``Client`` does; with trio pass ``sleep=trio.sleep``."""
        self._to = Connection(base_url, client_id, client_secret, allow_http=allow_http, sign=sign)
        self._calls = Calls(account_id, clock or Clock(), read_deadline_s)
        self._http = http or httpx.AsyncClient()
        self._closes = http is None
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"AsyncClient({self._to.base_url!r}, {self._calls.account_id!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_ended: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._closes:
            await self._http.aclose()

    async def balance(self) -> model.Balance:
        """See ``Client.balance``."""
        return await self._run(self._calls.balance())

    async def pix_keys(self) -> Sequence[model.PixKey]:
        """See ``Client.pix_keys``."""
        return await self._run(self._calls.pix_keys())

    async def pix_key(self, key_id: str) -> model.PixKey:
        """See ``Client.pix_key``."""
        return await self._run(self._calls.pix_key(key_id))

    async def charge(self, reference: str) -> model.Charge:
        """See ``Client.charge``."""
        return await self._run(self._calls.charge(reference))

    async def payment(self, reference: str) -> model.Payment:
        """See ``Client.payment``."""
        return await self._run(self._calls.payment(reference))

    async def statement(
        self, init: dt.date, ends: dt.date, *, page: int = 1, limit: int = 100
    ) -> model.Statement:
        """See ``Client.statement``."""
        return await self._run(self._calls.statement(Window(init, ends, page, limit)))

    async def payouts(
        self, init: dt.date, ends: dt.date, *, page: int = 1, limit: int = 100
    ) -> model.PayoutList:
        """See ``Client.payouts``."""
        return await self._run(self._calls.payouts(Window(init, ends, page, limit)))

    async def payout(self, reference: str) -> model.Payout:
        """See ``Client.payout``."""
        return await self._run(self._calls.payout(reference))

    async def cancel(self, reference: str) -> NoReturn:
        """See ``Client.cancel``."""
        await self._run(self._calls.cancel(reference))

    async def pay(
        self, order: Order, *, first: bool = False, deadline_s: float = 120.0
    ) -> model.Payout:
        """See ``Client.pay``; a cancelled call may have paid: pay again with the same order."""
        return await self._run(self._calls.pay(order, first=first, deadline_s=deadline_s))

    async def wait_for(
        self, payout: model.Payout | str, *, deadline_s: float = 120.0
    ) -> model.Payout:
        """See ``Client.wait_for``."""
        return await self._run(self._calls.settle(payout, deadline_s))

    def events(
        self, after: str | None = "", *, types: str | Iterable[str] = (), wait_s: int = 25
    ) -> AsyncFeed:
        """See ``Client.events``."""
        begin, wanted = cursor_text(after), type_list(types)
        return AsyncFeed(
            lambda at: self._run(self._calls.events(at, wanted, wait_s)), begin, wait_s
        )

    async def _run(self, flow: Flow[T]) -> T:
        try:
            request = next(flow)
            while True:
                request = flow.send(await self._send(request))
        except StopIteration as done:
            result: T = done.value
            return result

    async def _send(self, wanted: Request) -> Reply:
        if wanted.delay_s:
            await self._sleep(wanted.delay_s)
        request = self._to.request(wanted)
        try:
            got = await self._http.send(request, auth=None, follow_redirects=False)
        except httpx.RequestError as problem:
            return no_answer(problem)
        return Answer(got.status_code, got.headers, got.content)


class AsyncFeed:
    """
    Events in their order, as ``Feed`` has them.

    Attributes:
        cursor: Behind everything that was asked for; it moves on without events too.
    """

    def __init__(self, read: Callable[[str], Awaitable[FeedPart]], after: str, wait_s: int) -> None:
        """Begin behind a cursor."""
        self.cursor = after
        self._read = read
        self._waits = wait_s > 0

    async def __aiter__(self) -> AsyncIterator[model.Event]:
        while True:
            part = await self._read(self.cursor)
            for event in placed(part, self.cursor):
                yield event
            self.cursor = part.next
            if not part.data and not self._waits:
                return
