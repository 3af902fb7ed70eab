"""An adapter that raises errors or returns invalid values, behind the real surface."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import aiohttp
import pytest
import pytest_asyncio

from gateway.banks.checked_adapter import CheckedAdapter
from gateway.banks.port.providers import Accepted, NotFound
from gateway.payouts.model import Payout, PayoutState
from tests.world.answers import (
    ANSWERED,
    CANARY,
    Lie,
    LyingAdapter,
    changed,
    raising,
    saying,
)
from tests.world.gateway.world import World, order
from tests.world.waiting import settle, until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]

LIES: dict[str, Lie] = {
    "KeyError": raising(KeyError(CANARY)),
    "CancelledError": raising(asyncio.CancelledError(CANARY)),
    "SystemExit": raising(SystemExit(CANARY)),
    "None": saying(None),
    "a text": saying(CANARY),
}


@pytest.fixture
def liar(world: World) -> Iterator[LyingAdapter]:
    """The adapter of the sandbox, which returns invalid answers where configured."""
    checked = world.gateway.connections["sandbox"].adapter
    assert isinstance(checked, CheckedAdapter)
    honest = checked.checked
    lying = LyingAdapter(behind=honest)
    checked.checked = lying  # type: ignore[assignment]
    yield lying
    checked.checked = honest


@contextmanager
def lying(liar: LyingAdapter, **lies: Lie) -> Iterator[None]:
    liar.lies.update(lies)
    try:
        yield
    finally:
        liar.lies.clear()


async def metrics(world: World) -> str:
    url = f"http://127.0.0.1:{world.gateway.operations.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as said:
        return await said.text()


@pytest_asyncio.fixture(loop_scope="module")
async def untold(world: World, capfd: pytest.CaptureFixture[str]) -> AsyncIterator[list[bytes]]:
    """Bodies that tell no word of the bank's, as neither log nor metrics do."""
    bodies: list[bytes] = []
    yield bodies
    await settle()
    told = "".join((*capfd.readouterr(), await metrics(world), *map(repr, bodies)))
    assert [word for word in CANARY.split() if word in told] == []


def named(what: str, lie: str) -> str:
    """Make a reference that needs no encoding."""
    return re.sub(r"\W+", "-", f"{what} {lie}")


async def stored(world: World, reference: str) -> Payout:
    """Look into the store: over the socket, reading would itself ask the bank."""
    account = world.demo["accounts"]["main"]["id"]
    found = await world.gateway.kernel.store.payouts.find(account, reference)
    assert found is not None
    return found


PAYOUT_LIES: dict[str, Lie] = {
    **LIES,
    "not found": raising(NotFound("not_found")),
    "accepted, another key": saying(Accepted(evidence=ANSWERED, provider_key="f" * 32)),
    "accepted, 800 characters of id": saying(Accepted(evidence=ANSWERED, e2e_id="x\n" * 400)),
    "accepted, 5,000 characters": saying(Accepted(evidence=ANSWERED, provider_id="x" * 5000)),
    "accepted, compared by nobody": saying(
        Accepted(evidence=changed(ANSWERED, reason="duplicate"))
    ),
}


@pytest.mark.parametrize("lie", list(PAYOUT_LIES))
async def test_an_invalid_answer_to_a_payout_leaves_it_unknown_until_followed_up(
    world: World, liar: LyingAdapter, untold: list[bytes], lie: str
):
    """Recorded before the answer, never sent again, and settled by the follow-up."""
    reference = named("lied-about", lie)
    with lying(liar, create_payout=PAYOUT_LIES[lie]):
        answer = await world.pay(order(reference, world.today()))
        before = await stored(world, reference)
    again = await world.pay(order(reference, world.today()))
    after = await world.settled(reference)

    [attempt] = await world.gateway.kernel.store.payouts.attempts(before.account_id, reference)
    untold += [answer.body, again.body]
    assert answer.verdict == (502, "SVC.PIX.010")
    assert before.state is PayoutState.UNKNOWN
    assert (again.status, again.document["status"]) == (200, "processing")
    assert (after["status"], after["e2e_id"][:1]) == ("paid", "E")
    assert attempt.outcome is PayoutState.PAID
    assert await world.executions(reference) == [1050]


@pytest.mark.parametrize("lie", list(LIES))
async def test_an_invalid_answer_to_a_status_query_changes_nothing(
    world: World, liar: LyingAdapter, untold: list[bytes], lie: str
):
    """No 500 for the caller, and the payout continues to be followed up."""
    reference, lies = (
        named("looked-at", lie),
        dict.fromkeys(("find_payout", "list_statement"), LIES[lie]),
    )
    with lying(liar, create_payout=saying(None), **lies):
        await world.pay(order(reference, world.today()))
        read = await world.ask("GET", world.at(f"/withdraw/{reference}"))
        seen = liar.asked.count("find_payout")
        await until(lambda: liar.asked.count("find_payout") > seen)  # the background looks, too
        before = await stored(world, reference)
    healed = await world.settled(reference)

    untold.append(read.body)
    assert (read.status, read.document["status"]) == (200, "processing")
    assert (before.state, before.review) == (PayoutState.UNKNOWN, False)
    assert healed["status"] == "paid"
    assert await world.executions(reference) == [1050]
