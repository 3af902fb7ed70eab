"""Payouts of a credential with public keys: signed by one of them, or 401 and nothing stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from gateway.net.server.lane import LARGEST_BYTES
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, opened, order, other_secret, pair_of, sandbox
from tests.world.signing import Signer

OURS, THEIRS = Signer(1), Signer(2)
REFUSED = (401, "SVC.AUT.010")
LONG = {"description": "x" * 1000, "note": "x" * LARGEST_BYTES}
"""Content that aiohttp reads, since the lane takes no request of this size."""


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(sandbox(tmp_path)) as made:
        yield made


async def issued(world: World, signer: Signer | None = OURS) -> Pair:
    """Issue a credential that may do everything, and register a key for it."""
    pair = pair_of(await world.issue())
    if signer is not None:
        await world.register_key(pair["client_id"], signer.pem)
    return pair


class Order:
    """A payout as bytes, and its signature."""

    def __init__(self, world: World, reference: str, **more: object) -> None:
        self.path = world.at("/withdraw")
        self.body = msgspec.json.encode(order(reference, world.today(), **more))
        self.now = world.gateway.kernel.now()

    def signed(self, signer: Signer = OURS, **how: timedelta) -> Mapping[str, str]:
        return signer.headers(self.path, self.body, self.now - how.get("ago", timedelta()))


async def pay(
    world: World, pair: Pair, one: Order, headers: Mapping[str, str], body: bytes = b""
) -> Answer:
    headers = {"Content-Type": "application/json", **headers}
    return await world.ask("POST", one.path, pair=pair, headers=headers, data=body or one.body)


@pytest.mark.parametrize("more", [{}, LONG], ids=["lane", "aiohttp"])
async def test_a_payout_is_paid_only_as_it_was_signed(world: World, more: Mapping[str, object]):
    pair, other = await issued(world), await issued(world, THEIRS)
    one = Order(world, "order-1", **more)
    altered = one.body.replace(b"10.5", b"99.5")

    refused = [
        await pay(world, pair, one, {}),
        await pay(world, pair, one, one.signed(), altered),
        await pay(world, pair, one, one.signed(THEIRS)),
        await pay(world, other, one, one.signed(OURS)),
        await pay(world, pair, one, one.signed(ago=timedelta(seconds=301))),
    ]
    unknown = await world.ask("GET", world.at("/withdraw/order-1"), pair=pair)
    paid = await pay(world, pair, one, one.signed())
    repeated = await pay(world, pair, one, one.signed())

    assert altered != one.body
    assert {each.verdict for each in refused} == {REFUSED}
    assert unknown.status == 404
    assert (paid.status, repeated.status) == (200, 200)
    assert repeated.document["e2e_id"] == paid.document["e2e_id"]
    assert len(await world.executions("order-1")) == 1


async def test_a_missing_signature_is_answered_like_a_wrong_secret(world: World):
    pair = await issued(world)
    one = Order(world, "order-1")

    unsigned = await pay(world, pair, one, {})
    wrong = await pay(world, other_secret(pair), one, one.signed())

    assert {**unsigned.document, "trace_id": ""} == {**wrong.document, "trace_id": ""}
    assert unsigned.headers["WWW-Authenticate"] == wrong.headers["WWW-Authenticate"]


async def test_the_signature_is_checked_before_the_account(world: World):
    pair = await issued(world)
    elsewhere = world.at("/withdraw").replace(world.demo["accounts"]["main"]["id"], "no-uuid")

    answer = await world.ask("POST", elsewhere, pair=pair, document={})

    assert answer.verdict == REFUSED


async def test_reads_and_credentials_without_keys_need_no_signature(world: World):
    pair, plain = await issued(world), await issued(world, None)
    one = Order(world, "order-1")

    assert (await world.ask("GET", world.at("/balance"), pair=pair)).status == 200
    assert (await world.ask("DELETE", world.at("/withdraw/order-1"), pair=pair)).status == 501
    assert (await pay(world, plain, one, {})).status == 200
    assert (await pay(world, plain, one, {"Signature": "x", "Content-Digest": "x"})).status == 200
