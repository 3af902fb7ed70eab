"""``pixgate-client`` against a running gateway; the bank's books judge its errors."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gateway.config.settings import RateLimits
from gateway.core.limits import CallRate
from gateway.events.model import Cursor
from pixgate_client import (
    CursorExpired,
    CursorInvalid,
    Feed,
    NotFound,
    Payout,
    PixOrder,
    RateLimited,
    Refused,
)
from tests.proofs.clients.lossy_proxy import LossyProxy
from tests.proofs.clients.partner import FOR_EVER_S, KINDS, Partner, order, partner_of
from tests.servers.process import free_port
from tests.servers.streams import listening
from tests.world.extent import SEED, WHOLE
from tests.world.gateway.world import FREE, World, opened, sandbox
from tests.world.stops import stop_payouts

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("kind", KINDS),
]

PAYOUTS = 300 if WHOLE else 120
"""For each client; more would take more money than the account has."""
LATE = 100 if WHOLE else 20
"""Of these, while the bank is away."""
AT_ONCE = 8
DEADLINE_S = 20
"""Five attempts."""
FATES = {
    "": 50,
    "777.02": 5,
    "777.03": 5,
    "777.04": 5,
    "777.05": 5,
    "777.07": 5,
    "777.08": 10,
    "777.09": 5,
    "777.11": 10,
}
"""What the bank does with a payout: amounts of the partner guide; the others settle."""


def drawn(chance: Random, kind: str, number: int) -> PixOrder:
    """Draw an order: its amount, and now and then a tax number that is refused."""
    [fate] = chance.choices(list(FATES), list(FATES.values()))
    value = fate or str(Decimal(chance.randrange(100, 5_000)) / 100)
    made = order(f"{kind}/{number}", value, key=f"payee-{number}@example.com")
    return made if chance.random() > 0.1 else replace(made, tax_number="529.982.247-26")


def is_true(outcome: Any, wanted: PixOrder, executed: list[int]) -> bool:
    """Say whether the bank's books agree with what the client said."""
    centavos = int(wanted.value * 100)
    nothing, once = executed == [], executed == [centavos]
    if isinstance(outcome, Payout) and outcome.status == "processing":
        # stored, and paid later if ever: one that the bank never got reads so until midnight
        return nothing or once
    if isinstance(outcome, Payout) or type(outcome).__name__ in {"NotSent", "Refused"}:
        return nothing
    return type(outcome).__name__ == "Unknown" and (nothing or once)


async def test_no_payout_is_paid_twice_and_every_error_is_true(world: World, kind: str):
    """
    Seeded payouts through a proxy that loses, answers and repeats; the bank refuses and fails too.

    Then every one that the bank would settle is paid again under its reference: once.
    """
    chance = Random(f"{SEED} {kind}")
    orders = [drawn(chance, kind, number) for number in range(PAYOUTS)]
    proxy = LossyProxy(world.port, f"{SEED} {kind}")

    outcomes = await all_paid(world, kind, proxy, orders)
    await proxy.deliver_late()

    kinds = Counter(type(each).__name__ for each in outcomes)
    assert await untrue(world, orders, outcomes) == []
    assert set(kinds) == {"Payout", "NotSent", "Unknown", "Refused"}, kinds
    assert len(proxy.fates) == 7, proxy.fates
    await each_is_paid_once(world, kind, [each for each in orders if will_settle(each)])


async def test_a_copy_that_arrives_late_does_not_pay_what_was_reported_as_not_sent(
    world: World, kind: str
):
    """While the bank is away; it is back when the copies arrive, which pay then."""
    orders = [order(f"{kind} late/{number}", f"3.{number:02}") for number in range(LATE)]
    proxy = LossyProxy(world.port, f"{SEED} {kind}")

    async with world.failing("*", "refuse"):
        outcomes = await all_paid(world, kind, proxy, orders)
    await proxy.deliver_late()

    assert await untrue(world, orders, outcomes) == []
    assert {type(each).__name__ for each in outcomes} == {"NotSent", "Unknown"}
    assert any([await world.executions(each.reference) for each in orders])
    await each_is_paid_once(world, kind, orders)


async def all_paid(world: World, kind: str, proxy: LossyProxy, orders: list[PixOrder]) -> list[Any]:
    """Pay each through the proxy; every second one as the first call of its reference."""
    places = asyncio.Semaphore(AT_ONCE)

    async def attempt(partner: Partner, number: int) -> Any:
        async with places:
            first = number % 2 == 0
            return await partner.outcome(orders[number], first=first, deadline_s=DEADLINE_S)

    async with listening(proxy.serve) as port, partner_of(world, kind, port) as partner:
        return await asyncio.gather(*(attempt(partner, each) for each in range(len(orders))))


async def untrue(world: World, orders: list[PixOrder], outcomes: list[Any]) -> list[Any]:
    """Name the outcomes that the bank's books contradict."""
    return [
        (each.reference, repr(outcome), executed)
        for each, outcome in zip(orders, outcomes, strict=True)
        if not is_true(outcome, each, executed := await world.executions(each.reference))
    ]


def will_settle(each: PixOrder) -> bool:
    return str(each.value) not in FATES and each.tax_number.endswith("25")


async def each_is_paid_once(world: World, kind: str, orders: list[PixOrder]) -> None:
    """Pay until the bank has it: what was never sent reads ``processing`` too."""
    async with partner_of(world, kind) as partner:
        for each in orders:
            while not await world.executions(each.reference):
                payout = await partner.call("pay", each, deadline_s=FOR_EVER_S)
                assert payout.status == "processing"
            ended = await partner.call("wait_for", each.reference, deadline_s=FOR_EVER_S)
            assert (ended.status, ended.value) == ("paid", each.value)
            assert await world.executions(each.reference) == [int(each.value * 100)]


async def test_the_payouts_of_the_contract_are_read(world: World, kind: str):
    """With a reference of all sorts of characters in the path."""
    wanted = order(f"{kind} read/100%?#é", "1.01", description="Olá", name="Maria Silva")
    today = world.gateway.kernel.now().date()
    async with partner_of(world, kind) as partner:
        await partner.call("pay", wanted)
        payout = await partner.call("wait_for", wanted.reference, deadline_s=FOR_EVER_S)
        page = await partner.call("payouts", today, today, limit=1)
        with pytest.raises(NotFound):
            await partner.call("payout", "never ordered")
        with pytest.raises(Refused) as cancelled:
            await partner.call("cancel", wanted.reference)

    assert (payout.value, payout.description) == (Decimal("1.01"), "Olá")
    assert payout.destination.name == "Maria Silva"
    assert page.data == (payout,)
    assert (cancelled.value.status, cancelled.value.code) == (501, "SVC.PIX.018")
    assert cancelled.value.reference == wanted.reference


async def test_the_charges_of_the_contract_are_read(world: World, kind: str):
    charges = world.demo["charges"]
    async with partner_of(world, kind) as partner:
        charge = await partner.call("charge", charges["pending"])
        anonymous = await partner.call("charge", charges["anonymous"])
        pending = await partner.call("payment", charges["pending"])
        received = await partner.call("payment", charges["paid"])
        with pytest.raises(NotFound):
            await partner.call("charge", charges["expired"])

    assert (charge.status, charge.payer is None, anonymous.payer) == ("Active", False, None)
    assert (pending.status, pending.paid_at) == ("pending", None)
    assert (received.status, received.paid_at is None) == ("paid", False)


async def test_the_account_of_the_contract_is_read(world: World, kind: str):
    today = world.gateway.kernel.now().date()
    async with partner_of(world, kind) as partner:
        balance = await partner.call("balance")
        keys = await partner.call("pix_keys")
        key = await partner.call("pix_key", keys[0].id)
        statement = await partner.call("statement", today, today, limit=5)

    assert balance.balance > balance.blocked
    assert balance.updated_at.utcoffset() == timedelta(0)
    assert key == keys[0]
    assert len(statement.data) == statement.meta.limit == 5
    assert statement.balance.balance == balance.balance


@pytest.mark.parametrize("value", ["131072.01", "1234567.89", "9999999999999.99"])
async def test_large_amounts_arrive_exactly(world: World, kind: str, value: str):
    """More than the balance fails at the bank, and shows the amount as it came."""
    async with partner_of(world, kind) as partner:
        payout = await partner.call("pay", order(f"{kind} large {value}", value))

    assert (payout.value, str(payout.value)) == (Decimal(value), value)


async def test_an_unreachable_bank_is_not_sent(world: World, kind: str):
    async with partner_of(world, kind) as partner, world.failing("*", "refuse"):
        error = await partner.outcome(order(f"{kind} away"), deadline_s=DEADLINE_S)

    assert (type(error).__name__, error.code) == ("NotSent", "SVC.ACC.005")
    assert error.reference == f"{kind} away"
    assert await world.executions(f"{kind} away") == []


async def test_a_gateway_that_is_not_there_is_not_sent_only_the_first_time(world: World, kind: str):
    """Nobody but the caller knows whether an earlier call has sent."""
    async with partner_of(world, kind, free_port()) as partner:
        first = await partner.outcome(order("nowhere"), first=True, deadline_s=DEADLINE_S)
        again = await partner.outcome(order("nowhere"), deadline_s=DEADLINE_S)

    assert (type(first).__name__, type(again).__name__) == ("NotSent", "Unknown")


async def test_a_reference_in_use_is_refused(world: World, kind: str):
    async with partner_of(world, kind) as partner:
        await partner.call("pay", order(f"{kind} used", "5.00"))
        error = await partner.outcome(order(f"{kind} used", "5.01"), deadline_s=DEADLINE_S)

    assert (type(error).__name__, error.code) == ("Refused", "SVC.PIX.010")
    assert await world.executions(f"{kind} used") == [500]


async def test_stopped_payouts_are_refused(kind: str, tmp_path: Path):
    async with opened(sandbox(tmp_path)) as other, partner_of(other, kind) as partner:
        await stop_payouts(other.office)
        error = await partner.outcome(order("stopped"), first=True, deadline_s=DEADLINE_S)

    assert (type(error).__name__, error.status, error.code) == ("Refused", 403, "SVC.PIX.010")


async def test_an_exhausted_quota_is_waited_for_then_raised(kind: str, tmp_path: Path):
    """One payout a second: with a deadline that is too short, ``RateLimited``."""
    limits = dict.fromkeys(RateLimits.__struct_fields__, FREE)
    slow = RateLimits(**{**limits, "payout": CallRate(rate=1, burst=1)})
    async with (
        opened(sandbox(tmp_path, ratelimits=slow)) as other,
        partner_of(other, kind) as partner,
    ):
        outcomes = [
            await partner.outcome(order(f"quick {number}"), first=True, deadline_s=0)
            for number in range(20)
        ]
        paid = await partner.call("pay", order("patient"), deadline_s=FOR_EVER_S)

        limited = [each for each in outcomes if isinstance(each, RateLimited)]
        assert limited
        assert {each.retry_after_s >= 1 for each in limited} == {True}
        assert [await other.executions(each.reference) for each in limited] == [[]] * len(limited)
        assert paid.status == "processing"


async def test_a_gateway_that_is_stopping_is_left_for_another(kind: str, tmp_path: Path):
    """503 on a kept connection; the next connection goes to the process that took over."""
    async with opened(sandbox(tmp_path)) as other, partner_of(other, kind) as partner:
        await partner.call("balance")
        await other.gateway.public.stop_accepting()
        error = await partner.outcome(order("draining"), first=True, deadline_s=0)
        gone = await partner.outcome(order("draining"), first=True, deadline_s=DEADLINE_S)

    assert (type(error).__name__, error.status, error.code) == ("NotSent", 503, "SVC.GTW.006")
    assert (type(gone).__name__, gone.status) == ("NotSent", 0)


async def test_the_feed_is_read_and_gone_on_with(world: World, kind: str):
    """From a cursor the same events come again, and one that waits gets the next one."""
    async with partner_of(world, kind) as partner:
        before = await end_of_feed(partner)
        for number in range(3):
            await partner.call("pay", order(f"{kind} told {number}", f"2.0{number + 1}"))
            await partner.call("wait_for", f"{kind} told {number}", deadline_s=FOR_EVER_S)
        three = await taken(partner, before, f"{kind} told", 3)
        again = await taken(partner, before, f"{kind} told", 3)
        waiting = asyncio.ensure_future(taken(partner, three[-1].cursor, f"{kind} late", 1))
        await partner.call("pay", order(f"{kind} late", "2.04"))
        [late] = await waiting

    references = [each.data["reference"] for each in three]
    assert references == [f"{kind} told {number}" for number in range(3)]
    assert [each.id for each in again] == [each.id for each in three]
    assert late.data == {**three[0].data, "reference": f"{kind} late"}


async def end_of_feed(partner: Partner) -> str:
    """Read all that there is, without waiting; return where to go on."""
    feed = partner.client().events(wait_s=0)
    if isinstance(feed, Feed):
        await asyncio.to_thread(list, feed)
    else:
        async for _ in feed:
            pass
    return feed.cursor


async def taken(partner: Partner, after: str, about: str, count: int) -> list[Any]:
    """Read so many events of payouts whose references begin so; others may end meanwhile."""
    feed = partner.client().events(after, types=["payout.paid"], wait_s=25)
    if isinstance(feed, Feed):
        own = (each for each in feed if each.data["reference"].startswith(about))
        return await asyncio.to_thread(lambda: list(islice(own, count)))
    found = []
    async for event in feed:
        if event.data["reference"].startswith(about):
            found.append(event)
        if len(found) == count:
            break
    return found


async def test_a_bad_cursor_raises_its_own_error_type(world: World, kind: str):
    account, now = world.demo["accounts"]["main"]["id"], world.gateway.kernel.now()
    old = str(Cursor(account, 0, now - timedelta(days=31)))
    async with partner_of(world, kind) as partner:
        with pytest.raises(CursorInvalid):
            await taken(partner, "nonsense", "", 1)
        with pytest.raises(CursorExpired):
            await taken(partner, old, "", 1)


async def test_a_wrong_secret_is_refused_and_not_shown(world: World, kind: str):
    async with partner_of(world, kind) as partner:
        other = replace(partner, client_secret=partner.client_secret[:-1] + "#")
        with pytest.raises(Refused) as refused:
            await other.call("balance")

    assert (refused.value.status, refused.value.code) == (401, "SVC.AUT.010")
    assert other.client_secret not in repr(vars(refused.value)) + str(refused.value)


async def test_a_silent_bank_is_unknown_and_then_paid_once(hurried_world: World, kind: str):
    """The bank executes and never answers: the repetition is accepted, and settles."""
    reference = f"{kind} silent"
    async with partner_of(hurried_world, kind) as partner:
        async with hurried_world.failing("payout", "hang_after", count=1):
            error = await partner.outcome(order(reference), first=True, deadline_s=0)
        payout = await partner.call("pay", order(reference))
        ended = await partner.call("wait_for", payout, deadline_s=FOR_EVER_S)

    assert (type(error).__name__, error.code) == ("Unknown", "SVC.PIX.010")
    assert ended.status == "paid"
    assert await hurried_world.executions(reference) == [1050]
