"""A text that somebody typed into a payment, through a whole gateway: it hides nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.client.transport import HttpTransport
from gateway.config.upstream import Breaker
from tests.world.gateway.world import World, opened, order, patient, sandbox

_TYPED = re.compile(rb'("(?:nome|descricao)": ?")([^"]*)"')
DAMAGED = rb"\1parab\u00e9ns \ud83d" + "José".encode("latin-1") + b'\n\x00\xf0\x9f"'
Road = Callable[..., Awaitable[ProviderAnswer]]


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A gateway whose bank's breaker is the usual one."""
    settings = patient(sandbox(tmp_path))
    provider = msgspec.structs.replace(settings.providers["sandbox"], breaker=Breaker())
    async with opened(msgspec.structs.replace(settings, providers={"sandbox": provider})) as made:
        yield made


def damaging(road: Road, damaged: list[str]) -> Road:
    """Return a road on which each text that people wrote is damaged."""

    async def call(*asked: object) -> ProviderAnswer:
        answer = await road(*asked)
        body, found = _TYPED.subn(DAMAGED.replace(b"\\u", b"\\\\u"), answer.body)
        if found:
            damaged.append(asked[1].operation)  # type: ignore[attr-defined]
        answer.body = body
        return answer

    return call


async def test_a_payout_settles_and_a_statement_is_shown_in_spite_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """Its order was answered with rubbish, so that the look-up alone proves it."""
    damaged: list[str] = []
    monkeypatch.setattr(HttpTransport, "call", damaging(HttpTransport.call, damaged))
    day = world.today()

    first = await world.pay(order("typed", day, value=777.08))
    shown = await world.settled("typed")
    statement = f"/transactions?init={day}&ends={day}"
    pages = [await world.ask("GET", world.at(statement)) for _ in range(3)]
    balances = [await world.ask("GET", world.at("/balance")) for _ in range(5)]
    charge = await world.ask("GET", world.at(f"/pix/qrcode/{world.demo['charges']['pending']}"))

    assert first.verdict == (502, "SVC.PIX.010")
    assert (shown["status"], shown["value"]) == ("paid", 777.08)
    assert [each.status for each in (*pages, *balances, charge)] == [200] * 9
    values = [each["value"] for each in pages[0].document["data"]]
    assert 777.08 in values
    assert {"find_payout", "list_statement", "get_charge"} <= set(damaged)
