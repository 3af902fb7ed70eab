"""What a page shows means the same on every page, and days are typed as people write them."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import Callback
from gateway.callbacks.store import CallbackRecords
from tests.surfaces.panel.pages.person import Person
from tests.world.backoffice.watching import in_review
from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")


def latest(world: World) -> str:
    now = world.gateway.kernel.now()
    since, until = (f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in (now - timedelta(hours=1), now))
    return f"/panel/overview/latest?since={since}&until={until}"


async def test_a_payout_in_review_is_amber_in_every_list(world: World, approver: Person):
    """It may have been paid, so it is neither under way nor certain."""
    await in_review(world)

    for path in ("/panel/payouts", latest(world)):
        seen = await approver.open(path)
        words = re.findall(
            r'class="cert ([\w ]*)">(?:(?!class="cert).)*?aguarda decisão', seen.text
        )
        assert words, path
        assert set(words) == {"warn"}, path


async def test_a_review_shows_first_why_people_must_decide(world: World, approver: Person):
    reference = await in_review(world)
    account = world.demo["accounts"]["main"]["id"]

    seen = await approver.open(f"/panel/unresolved?account={account}&reference={reference}")

    assert re.search(r"O que se sabe</dt><dd><b[^>]*>O banco não confirma este caso", seen.text)


async def test_the_latest_payouts_show_reasons_of_refusals(world: World, operator: Person):
    await world.pay(order(f"refused-{uuid4()}", world.today(), value=777.03), expects=None)

    seen = await operator.open(latest(world))

    assert "recusado pelo banco" in seen.text


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("/panel/overview/balances", "/panel"),
        ("/panel/explain", "/panel/explain"),
        ("/panel/providers/sandbox", "/panel/providers"),
    ],
)
async def test_a_page_without_a_menu_entry_marks_its_parent(
    operator: Person, path: str, entry: str
):
    seen = await operator.open(path)

    assert re.findall(r'<li><a href="([^"]*)"[^>]*aria-current="page"', seen.text) == [entry]


@pytest.mark.parametrize("path", ["/panel/audit", "/panel/requests", "/panel/payouts"])
async def test_days_can_be_typed_in_brazilian_format(keeper: Person, operator: Person, path: str):
    """The browser's own date field follows its language: 11/05 would be 5 November."""
    who = keeper if path == "/panel/audit" else operator

    seen = await who.open(path)
    past = await who.open(f"{path}?init=01%2F01%2F2020&ends=02%2F01%2F2020")

    assert 'type="date"' not in seen.text
    assert seen.text.count('placeholder="dd/mm/aaaa"') == 2
    assert past.status == 200
    assert 'value="02/01/2020"' in past.text
    assert 'class="empty"' in past.text


async def test_a_callback_of_a_payout_links_to_the_payout(world: World, operator: Person):
    """Its subject is the key that we sent, by which users do not know the payout."""
    kernel = world.gateway.kernel
    reference = f"told-{uuid4()}"
    await world.pay(order(reference, world.today(), value=3.21))
    account = world.demo["accounts"]["main"]["id"]
    payout = await kernel.store.payouts.find(account, reference)
    assert payout is not None
    told = Callback(
        id=str(uuid4()),
        provider="sandbox",
        event=str(uuid4()),
        kind=CallbackKind.PAYOUT,
        subject=payout.provider_key,
        received_at=kernel.now(),
        body=b"{}",
    )
    await CallbackRecords(kernel.store.database).add(told)

    listed = await operator.open("/panel/callbacks?kind=payout")
    found = await operator.open(f"/panel/search?q={payout.provider_key}")

    assert f'href="{found.location}"' in listed.text
    assert "3,21" in listed.text
    assert found.location == f"/panel/accounts/{account}/payouts/{reference}"


async def test_a_charge_can_be_created_from_the_list_of_all(world: World, operator: Person):
    account = world.demo["accounts"]["main"]["id"]

    seen = await operator.open("/panel/charges")

    assert f"/panel/accounts/{account}/new-charge" in seen.text
