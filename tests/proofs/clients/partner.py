"""A partner's program on either client; its pauses take no time."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx

from pixgate_client import AsyncClient, Client, Clock, PixgateError, PixOrder
from tests.proofs.torture.gateway_client import GatewayClient
from tests.world.gateway.world import World

KINDS = ("sync", "async")
FOR_EVER_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """
    Who calls which gateway, with which credential.

    Attributes:
        http: Says by its type which client is used.
    """

    base_url: str
    account_id: str
    client_id: str
    client_secret: str
    now: Callable[[], datetime]
    http: httpx.Client | httpx.AsyncClient

    async def call(self, name: str, *given: Any, **named: Any) -> Any:
        """Make a call of the client; a blocking one in a thread."""
        made = self.client()
        if isinstance(made, Client):
            return await asyncio.to_thread(getattr(made, name), *given, **named)
        return await getattr(made, name)(*given, **named)

    async def outcome(self, order: PixOrder, **named: Any) -> Any:
        """Pay; return the payout or the error."""
        try:
            return await self.call("pay", order, **named)
        except PixgateError as error:
            return error

    def client(self) -> Client | AsyncClient:
        """Make a client whose clock goes on by its pauses alone."""
        passed_s = 0.0

        def wait(seconds: float) -> None:
            nonlocal passed_s
            passed_s += seconds

        async def wait_async(seconds: float) -> None:
            wait(seconds)

        clock = Clock(now=self.now, monotonic=lambda: passed_s, chance=lambda: 0.5)
        who = (self.base_url, self.account_id, self.client_id, self.client_secret)
        if isinstance(self.http, httpx.Client):
            return Client(*who, http=self.http, clock=clock, sleep=wait)
        return AsyncClient(*who, http=self.http, clock=clock, sleep=wait_async)


@asynccontextmanager
async def partner_of(
    world: World, kind: str, port: int = 0, role: str = "full"
) -> AsyncIterator[Partner]:
    """Call a world's gateway, directly or at the port of a proxy."""
    pair = world.pair(role)
    async with http_of(kind) as http:
        yield Partner(
            base_url=f"http://127.0.0.1:{port or world.port}",
            account_id=world.demo["accounts"]["main"]["id"],
            client_id=pair["client_id"],
            client_secret=pair["client_secret"],
            now=world.gateway.kernel.now,
            http=http,
        )


@asynccontextmanager
async def partner_at(site: GatewayClient, kind: str) -> AsyncIterator[Partner]:
    """Call a gateway in a process of its own."""
    coded = site.account.authorization.removeprefix("Basic ")
    client_id, _, client_secret = base64.b64decode(coded).decode().partition(":")
    async with http_of(kind) as http:
        yield Partner(
            base_url=site.base,
            account_id=site.account.id,
            client_id=client_id,
            client_secret=client_secret,
            now=site.now,
            http=http,
        )


@asynccontextmanager
async def http_of(kind: str) -> AsyncIterator[httpx.Client | httpx.AsyncClient]:
    """Open what carries the calls; it looks for no proxy in the environment."""
    if kind == "sync":
        with httpx.Client(trust_env=False) as http:
            yield http
    else:
        async with httpx.AsyncClient(trust_env=False) as http:
            yield http


def order(reference: str, value: str = "10.50", **changed: Any) -> PixOrder:
    """Return an order that every check lets through."""
    made = PixOrder(
        value=Decimal(value),
        tax_number="529.982.247-25",
        key_type="email",
        key="maria@example.com",
        reference=reference,
    )
    return replace(made, **changed)
