"""Orders of people where none waits: payouts and refunds that move money at once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.config.settings import Payouts, Settings
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import BANK_PAYEE, PAYEE, paid, withdrawing
from tests.world.gateway.world import World, opened, order, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway where four eyes are switched off."""
    async with opened(alone(tmp_path_factory.mktemp("money"))) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hurried(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BackofficeClient]:
    """The same, where a silent bank is given up on after a second."""
    async with opened(alone(tmp_path_factory.mktemp("hurried"))) as made:
        yield BackofficeClient(made)


def alone(folder: Path) -> Settings:
    return sandbox(folder, payouts=Payouts(approval_above=None))


def refunds_of(charge: Any) -> str:
    return f"/pix/transactions/{charge['reference']}/refunds"


def giving(value: float = 3.25) -> dict[str, object]:
    return {"reference": uuid.uuid4().hex, "value": value, "description": "uma parte"}


@pytest.mark.parametrize(
    ("path", "payee"), [("/withdraw/pix", PAYEE), ("/withdraw/bank-account", BANK_PAYEE)]
)
async def test_a_payout_ordered_several_times_is_made_once(
    backoffice_client: BackofficeClient, path: str, payee: object
):
    """Ten concurrent orders make one payout; the partner sees it, without its orderer."""
    reference = uuid.uuid4().hex
    sent = withdrawing(backoffice_client, reference, destination=payee)

    answers = await asyncio.gather(*(backoffice_client.post(path, sent) for _ in range(10)))
    settled = await backoffice_client.world.settled(reference)

    assert {(each.status, each.document["status"]) for each in answers} == {(200, "processing")}
    assert settled["status"] == "paid"
    assert await backoffice_client.world.executions(reference) == [1050]


async def test_the_dossier_of_a_payout_shows_its_certainty(hurried: BackofficeClient):
    """The answer was lost, so the outcome is unknown; the evidence says that bytes had left."""
    backoffice_client = hurried
    reference = uuid.uuid4().hex
    sent = withdrawing(backoffice_client, reference, value=777.06)
    answer = await backoffice_client.post("/withdraw/pix", sent)

    told = (await backoffice_client.read(f"/withdraw/{reference}/dossier")).document

    assert answer.status == 502
    assert told["payout"]["reference"] == reference
    assert (told["state"], told["certainty"], told["review"]) == ("unknown", "sent_unknown", False)
    [attempt] = told["attempts"]
    assert (attempt["number"], attempt["outcome"]) == (1, "unknown")
    assert attempt["evidence"]["bytes_left"] is True
    assert (told["similar"], told["opinions"]) == ([], [])
    listed = (await backoffice_client.ask("GET", "/backoffice/v1/unresolved?limit=100")).document
    [row] = [each for each in listed["data"] if each["reference"] == reference]
    assert row["attempts"] == told["attempts"]
    assert (row["certainty"], row["opinions"]) == ("sent_unknown", [])


async def test_an_unsent_payout_is_proven_not_sent(backoffice_client: BackofficeClient):
    reference, world = uuid.uuid4().hex, backoffice_client.world
    async with world.failing("payout", "refuse"):
        await world.pay(order(reference, world.today()))

    told = (await backoffice_client.read(f"/withdraw/{reference}/dossier")).document

    assert told["certainty"] == "not_sent"
    assert told["attempts"][0]["evidence"]["bytes_left"] is False


async def test_a_payout_that_is_not_paid_has_moved_nothing(backoffice_client: BackofficeClient):
    """In its row and in the sum of its state, whatever amount was ordered."""
    world, name = backoffice_client.world, uuid.uuid4().hex[:8]
    for number, value in enumerate((777.02, 777.03, 777.11, 10.5)):
        await world.pay(order(f"{name}-{number}", world.today(), value=value))
    for settled in (f"{name}-0", f"{name}-3"):
        await world.settled(settled)

    asked = {"days": 1, "text": name}
    found = await backoffice_client.ask("POST", "/backoffice/v1/payouts/search", asked)
    rows, sums = found.document["data"], found.document["counts"]["by_state"]

    assert {each["state"]: each["moved"] for each in rows} == {
        "failed": 0,
        "rejected": 0,
        "not_sent": 0,
        "paid": 10.5,
    }
    assert {each["state"]: each["moved"] for each in sums} == {
        each["state"]: each["moved"] for each in rows
    }


async def test_a_payment_is_refunded_in_parts_each_once(backoffice_client: BackofficeClient):
    """Read by its reference, found by a search, and shown with the payment."""
    charge, asked = await paid(backoffice_client), giving()

    answers = [await backoffice_client.post(refunds_of(charge), asked) for _ in range(3)]
    read = await backoffice_client.read(f"/pix/refunds/{asked['reference']}")
    day = {"init": backoffice_client.world.today(), "ends": backoffice_client.world.today()}
    found = (await backoffice_client.post("/pix/refunds/search", day)).document["data"]
    received = (await backoffice_client.post("/pix/transactions/search", day)).document["data"]

    assert {each.status for each in answers} == {200}
    assert len({each.document["return_id"] for each in answers}) == 1
    shown = read.document
    assert (shown["value"], shown["description"]) == (3.25, "uma parte")
    assert shown["transaction"]["reference"] == charge["reference"]
    assert [each["reference"] for each in found].count(asked["reference"]) == 1
    payment = next(each for each in received if each["reference"] == charge["reference"])
    assert (payment["status"], payment["refunded"]) == ("partly_refunded", 3.25)
