"""Which charges are Pix: each day is listed once in a minute."""

from __future__ import annotations

from datetime import date

import pytest

from gateway.banks.port.providers import Unavailable
from provider_adapters.asaas import pix_charges
from provider_adapters.asaas.pix_charges import KEPT_S, Paid, PixCharges
from tests.world.banks.witness import Clock

FIRST, SECOND, THIRD = (date(2026, 11, day) for day in (20, 21, 22))
PAID = {"pix-1": FIRST, "pix-2": SECOND, "pix-3": SECOND, "pix-4": THIRD}


class Bank:
    """Lists paid charges, two at a time."""

    def __init__(self) -> None:
        self.asked: list[tuple[date, date, int]] = []

    async def read(self, days: tuple[date, date], skip: int) -> Paid:
        self.asked.append((*days, skip))
        inside = [each for each in PAID.items() if days[0] <= each[1] <= days[1]]
        return dict(inside[skip : skip + 2]), len(inside) > skip + 2


@pytest.fixture
def bank() -> Bank:
    return Bank()


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_charges_not_paid_by_pix_are_left_out(bank: Bank, clock: Clock):
    known = PixCharges(clock)

    found = await known.among("a", {"pix-1": FIRST, "boleto": FIRST, "pix-3": SECOND}, bank.read)

    assert found == {"pix-1", "pix-3"}
    assert bank.asked == [(FIRST, SECOND, 0), (FIRST, SECOND, 2)]


async def test_a_day_of_charges_is_cached_for_a_minute(bank: Bank, clock: Clock):
    known = PixCharges(clock)
    for _ in range(3):
        await known.among("a", {"pix-1": FIRST, "boleto": FIRST}, bank.read)
    assert len(bank.asked) == 1

    clock.passes(KEPT_S)
    await known.among("a", {"pix-1": FIRST}, bank.read)

    assert len(bank.asked) == 2


async def test_without_paid_charges_the_bank_is_not_asked(bank: Bank, clock: Clock):
    assert await PixCharges(clock).among("a", {}, bank.read) == set()
    assert bank.asked == []


async def test_accounts_do_not_share_cached_days(bank: Bank, clock: Clock):
    known = PixCharges(clock)
    await known.among("a", {"pix-1": FIRST}, bank.read)
    await known.among("b", {"pix-1": FIRST}, bank.read)

    assert len(bank.asked) == 2


async def test_an_incomplete_list_is_not_cached(bank: Bank, clock: Clock):
    known = PixCharges(clock)

    async def broken(days: tuple[date, date], skip: int) -> Paid:
        if skip:
            message = "server_error"
            raise Unavailable(message)
        return await bank.read(days, skip)

    with pytest.raises(Unavailable):
        await known.among("a", {"pix-1": FIRST, "pix-3": SECOND}, broken)

    assert await known.among("a", {"pix-3": SECOND}, bank.read) == {"pix-3"}


async def test_the_cache_is_bounded(bank: Bank, clock: Clock, monkeypatch: pytest.MonkeyPatch):
    """Dropping an entry only costs a call."""
    monkeypatch.setattr(pix_charges, "MOST_IDS", 0)
    known = PixCharges(clock)

    for day in (FIRST, SECOND, THIRD, FIRST):
        await known.among("a", {"pix-1": day}, bank.read)

    assert len(known._days) == 1
