"""The feed of events over the socket: who reads it, what is told, what is refused."""

from __future__ import annotations

import asyncio
import re
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateway.app.lifecycle import drain
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import NOBODY, World, opened, order, sandbox
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).parents[3] / "docs/events.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAYOUTS = "payout.paid,payout.failed,payout.returned"
"""The demo's own charge and refund are told some time after the start."""
IDS = {"account_id", "reference", "return_id"}
"""All that an event may say of what it is about."""


def feed(world: World, query: str = "", account: str = "main") -> str:
    return f"/events/v1/account/{world.demo['accounts'][account]['id']}/events{query}"


async def begin(world: World) -> str:
    """Return the cursor behind everything that other tests did."""
    after = ""
    while True:
        part = await world.ask("GET", feed(world, f"?limit=100&after={after}"))
        after = part.document["next"]
        if not part.document["data"]:
            return after


async def behind(world: World, after: str, types: str = PAYOUTS) -> list[dict[str, Any]]:
    part = await world.ask("GET", feed(world, f"?after={after}&types={types}"))
    assert part.status == 200
    found: list[dict[str, Any]] = part.document["data"]
    return found


@pytest.mark.parametrize(
    ("reference", "value", "status", "told"),
    [
        ("events-paid", 10.50, "paid", "payout.paid"),
        ("events-failed", 777.02, "failed", "payout.failed"),
        ("events-rejected", 777.03, "failed", "payout.failed"),
    ],
)
async def test_the_end_of_a_payout_has_an_event_with_its_ids_alone(
    world: World, reference: str, value: float, status: str, told: str
):
    after = await begin(world)
    await world.pay(order(reference, world.today(), value=value))
    assert (await world.settled(reference))["status"] == status

    [event] = await behind(world, after)

    account_id = world.demo["accounts"]["main"]["id"]
    assert event["type"] == told
    assert event["data"] == {"account_id": account_id, "reference": reference}
    assert event.keys() == {"id", "type", "timestamp", "data"}


async def test_returned_money_has_an_event_with_the_id_of_the_return(world: World):
    after = await begin(world)
    await world.pay(order("events-returned", world.today(), value=777.09))
    await world.settled("events-returned")

    async def both() -> list[dict[str, Any]] | None:
        found = await behind(world, after)
        return found if len(found) > 1 else None

    found = await until(both)
    assert [each["type"] for each in found] == ["payout.paid", "payout.returned"]
    assert found[1]["data"].keys() == IDS
    assert found[1]["data"]["return_id"].startswith("D")


@pytest.mark.parametrize(
    ("by", "account", "said"),
    [
        ("full", "main", (200, "")),
        ("company", "sister", (200, "")),
        ("event:read", "main", (200, "")),
        (NOBODY, "main", (401, "SVC.AUT.001")),
        ("none", "main", (403, "SVC.AUT.010")),
        ("limited", "main", (403, "SVC.AUT.010")),
        ("withdraw:manage", "main", (403, "SVC.AUT.010")),
        ("event:read", "sister", (403, "SVC.AUT.010")),
        ("full", "other_company", (404, "SVC.ACC.001")),
        ("company", "inactive", (400, "SVC.ACC.002")),
    ],
)
async def test_a_feed_is_for_credentials_of_its_account_that_may_read_events(
    world: World, by: str, account: str, said: tuple[int, str]
):
    answer = await world.ask("GET", feed(world, account=account), by=by)

    assert answer.verdict == said


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?after=1", "SVC.VAL.011"),
        ("?types=payout.created", "SVC.VAL.011"),
        ("?limit=0", "SVC.VAL.009"),
    ],
)
async def test_a_malformed_query_is_refused(world: World, query: str, code: str):
    answer: Answer = await world.ask("GET", feed(world, query))

    assert answer.verdict == (400, code)


async def test_a_cursor_leads_nowhere_in_the_feed_of_another_account(world: World):
    own = await world.ask("GET", feed(world), by="company")

    other = feed(world, f"?after={own.document['next']}", account="sister")
    answer = await world.ask("GET", other, by="company")

    assert answer.verdict == (400, "SVC.VAL.011")
    assert own.document["next"] not in answer.body.decode()


async def test_the_program_of_the_page_reads_each_event(world: World):
    after = await begin(world)
    await world.pay(order("events-program", world.today()))
    await world.settled("events-program")
    program, _receiver = PROGRAM.findall(PAGE.read_text(encoding="utf-8"))
    pair = world.pair("full")
    for placeholder, own in {
        "http://127.0.0.1:8080/events/v1/account/ACCOUNT_ID/events": (
            f"http://127.0.0.1:{world.port}{feed(world)}"
        ),
        "CLIENT_ID:CLIENT_SECRET": f"{pair['client_id']}:{pair['client_secret']}",
    }.items():
        assert placeholder in program
        program = program.replace(placeholder, own)
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102 - what the page shows

    def first() -> tuple[dict[str, Any], str]:
        every = names["events"](after)
        return next(each for each in every if each[0]["type"].startswith("payout."))

    event, place = await asyncio.to_thread(first)

    assert (event["type"], event["data"]["reference"]) == ("payout.paid", "events-program")
    assert place


async def test_a_call_waits_until_there_is_an_event(world: World):
    after = await begin(world)
    path = feed(world, f"?after={after}&wait=25&types={PAYOUTS}")
    waiting = asyncio.create_task(world.ask("GET", path))

    await world.pay(order("events-waited-for", world.today()))
    part = await waiting

    assert [each["data"]["reference"] for each in part.document["data"]] == ["events-waited-for"]


async def test_a_fifth_call_of_a_credential_does_not_wait(world: World):
    """Each of the others is answered as if it had been alone."""
    after, waits = await begin(world), world.gateway.services.event_feed.waits
    path = feed(world, f"?after={after}&wait=25&types={PAYOUTS}")
    held = [asyncio.create_task(world.ask("GET", path)) for _ in range(4)]
    await until(lambda: len(waits._calls) == 4)

    fifth = await world.ask("GET", path)
    at_once = await world.ask("GET", feed(world, f"?after={after}&types={PAYOUTS}"))
    other = asyncio.create_task(world.ask("GET", path, by="company"))
    await until(lambda: len(waits._calls) == 5)
    await world.pay(order("events-for-five", world.today()))

    assert fifth.verdict == (429, "SVC.GTW.005")
    assert 1 <= int(fifth.headers["Retry-After"]) <= 25
    assert at_once.document["data"] == []
    told = [(await each).document["data"] for each in (*held, other)]
    assert [len(each) for each in told] == [1] * 5
    assert len({each[0]["id"] for each in told}) == 1


async def test_a_stop_answers_waiting_calls_at_once_with_an_empty_page(tmp_path: Path):
    async with opened(sandbox(tmp_path)) as stopping:
        first = await stopping.ask("GET", feed(stopping, "?limit=100"))
        waits, after = stopping.gateway.services.event_feed.waits, first.document["next"]
        path = feed(stopping, f"?after={after}&wait=25&types={PAYOUTS}")
        waiting = asyncio.create_task(stopping.ask("GET", path))
        await until(lambda: waits._calls)
        [call] = waits._calls

        draining = asyncio.create_task(drain(stopping.gateway, signal.SIGTERM))
        part = await waiting
        await draining

    assert call.woken.result() is False  # cancelled where its time was over
    assert part.status == 200
    assert part.document["data"] == []
    assert part.document["next"]


async def test_each_payment_of_a_charge_has_an_event_with_the_charge(world: World):
    """By the bank's notification; nobody reads the charge."""
    after, reference = await begin(world), world.demo["charges"]["reusable"]
    found: list[dict[str, Any]] = []

    async def of_charge(after: str) -> list[dict[str, Any]]:
        told = await behind(world, after, "pix.received")
        return [each for each in told if each["data"]["reference"] == reference]

    for _ in range(2):
        await world.control.post("charges", reference, "pay", body={})
        found += await until(partial(of_charge, after))
        after = await begin(world)

    assert [each["type"] for each in found] == ["pix.received"] * 2
    assert {each["data"]["reference"] for each in found} == {reference}
    assert len({each["data"]["e2e_id"] for each in found}) == 2
    assert all(each["data"].keys() == {"account_id", "reference", "e2e_id"} for each in found)
