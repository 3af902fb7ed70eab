"""A payout to a first payee is held: partners read `processing`, and a second person decides."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gateway.config.settings import Payouts
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import World, opened, order, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

VALUE = 1000.01


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway that holds what is above R$ 1,000.00 to a first payee."""
    settings = sandbox(tmp_path_factory.mktemp("holds"), payouts=Payouts(hold_above="1000.00"))
    async with opened(settings) as made:
        yield made


async def ordered(world: World) -> str:
    """Order a payout to a payee that was never paid."""
    reference = uuid.uuid4().hex
    said = await world.pay(body(world, reference))
    assert (said.status, said.document["status"]) == (200, "processing")
    return reference


def body(world: World, reference: str, value: float = VALUE) -> dict[str, object]:
    key = f"{reference}@example.com"
    return order(reference, world.today(), value=value) | {
        "destination": {"tax_number": "529.982.247-25", "key_type": "email", "key": key}
    }


async def is_sent(world: World, reference: str) -> bool:
    account = world.demo["accounts"]["main"]["id"]
    found = await world.gateway.kernel.store.payouts.attempts(account, reference)
    return bool(found)


async def test_a_held_payout_is_processing_for_its_partner(world: World):
    """In the answer, a repeat, a read and the list; other content is refused."""
    reference = await ordered(world)

    again = await world.pay(body(world, reference))
    other = await world.pay(body(world, reference, VALUE + 1))
    read = await world.ask("GET", world.at(f"/withdraw/{reference}"))
    day = world.today()
    listed = await world.ask("GET", world.at(f"/withdraws?init={day}&ends={day}"))

    assert (again.status, again.document["status"]) == (200, "processing")
    assert (other.status, other.document["code"]) == (400, "SVC.PIX.010")
    assert (read.status, read.document["status"]) == (200, "processing")
    assert b"held" not in again.body + read.body + listed.body
    assert not await is_sent(world, reference)


async def test_staff_see_the_reason_of_a_hold_and_another_user_releases_it(
    backoffice_client: BackofficeClient, world: World
):
    reference = await ordered(world)

    found = await backoffice_client.ask(
        "POST", "/backoffice/v1/payouts/search", {"states": ["held"]}
    )
    dossier = await backoffice_client.ask(
        "GET", backoffice_client.at(f"/withdraw/{reference}/dossier")
    )
    decided = await backoffice_client.post(f"/withdraw/{reference}/release", None, by="approver")
    settled = await world.settled(reference)

    assert reference in [each["reference"] for each in found.document["data"]]
    assert (dossier.document["state"], dossier.document["certainty"]) == ("held", "held")
    [kept] = dossier.document["timeline"]
    assert (kept["kind"], kept["facts"]["reason"]) == ("held", "first_payee")
    assert (decided.status, decided.document["status"]) == (200, "processing")
    assert settled["status"] == "paid"


async def test_a_refused_held_payout_is_failed_and_not_sent_for_its_partner(
    backoffice_client: BackofficeClient, world: World
):
    reference = await ordered(world)

    why = {"reason": "nobody knows this payee"}
    decided = await backoffice_client.post(f"/withdraw/{reference}/refuse", why, by="approver")
    read = await world.ask("GET", world.at(f"/withdraw/{reference}"))
    again = await world.pay(body(world, reference))

    assert decided.status == 200
    failure = read.document["failure"]
    assert (read.document["status"], failure["code"]) == ("failed", "NOT_SENT")
    assert "The operator refused the payout" in failure["message"]
    assert "approver" not in failure["message"]
    assert (again.status, again.document["code"]) == (403, "SVC.PIX.010")
    assert not await is_sent(world, reference)
