"""Rows of lists and of the search count like those of files, and are refused like them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import Callback, CallbackState
from gateway.callbacks.store import CallbackRecords
from gateway.config.settings import Payouts
from gateway.core.limits import CallRate
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import paid, today
from tests.world.gateway.world import World, opened, order, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW = {"days": 1, "limit": 25}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway in which a person takes one page of a list."""
    alone = Payouts(approval_above=None)
    settings = sandbox(tmp_path_factory.mktemp("lists"), payouts=alone)
    limits = msgspec.structs.replace(
        settings.ratelimits, exported_rows=CallRate(rate=0.001, burst=1)
    )
    async with opened(msgspec.structs.replace(settings, ratelimits=limits)) as made:
        yield made


@pytest.fixture(scope="module")
def office(world: World) -> BackofficeClient:
    return BackofficeClient(world)


async def waiting(world: World, office: BackofficeClient) -> None:
    """Make an order that waits, and a callback."""
    company = world.demo["companies"]["main"]["id"]
    wanted = {"email": "a@example.com", "name": "A", "roles": ["operator"], "companies": [company]}
    ordered = await office.ask("POST", "/backoffice/v1/users", wanted, by="admin")
    assert ordered.status == 202
    told = Callback(
        id="1",
        provider="sandbox",
        event="e",
        kind=CallbackKind.OTHER,
        subject="",
        received_at=world.gateway.kernel.now(),
        body=b"{}",
        state=CallbackState.DONE,
    )
    await CallbackRecords(world.gateway.kernel.store.database).add(told)


async def test_every_export_is_refused_above_the_limit_of_rows(
    world: World, office: BackofficeClient
):
    """Lists for partners are not limited."""
    await world.pay(order("listed", world.today()))
    await world.settled("listed")
    charge = await paid(office)
    part = {"reference": "part", "value": 3.25, "description": ""}
    given = await office.post(f"/pix/transactions/{charge['reference']}/refunds", part)
    assert given.status == 200
    found = await office.ask("POST", "/backoffice/v1/payouts/search", WINDOW)
    assert (found.status, len(found.document["data"])) == (200, 1)
    await office.ask("POST", "/backoffice/v1/payouts/search", WINDOW, by="security")
    await waiting(world, office)
    day = today(office)
    days = f"?init={day['init']}&ends={day['ends']}"

    refused = {
        path: await office.ask(method, path, document, by=by)
        for by, method, path, document in (
            ("operator", "POST", "/backoffice/v1/payouts/search", WINDOW),
            ("operator", "POST", office.at("/withdraws/search"), day),
            ("operator", "GET", office.at("/recipients"), None),
            ("operator", "POST", office.at("/pix/transactions/search"), day),
            ("operator", "POST", office.at("/pix/refunds/search"), day),
            ("operator", "GET", office.at(f"/transactions{days}"), None),
            ("operator", "GET", office.at(f"/statement{days}"), None),
            ("operator", "GET", "/backoffice/v1/charges", None),
            ("operator", "POST", "/backoffice/v1/search", {"text": "listed"}),
            ("security", "GET", "/backoffice/v1/requests", None),
            ("security", "GET", "/backoffice/v1/audit", None),
            ("security", "GET", "/backoffice/v1/users", None),
            ("security", "GET", "/backoffice/v1/approvals", None),
            ("operator", "GET", "/backoffice/v1/webhooks", None),
        )
    }

    told = {path: (each.verdict, each.document.get("reason")) for path, each in refused.items()}
    assert told == dict.fromkeys(refused, ((429, "SVC.GTW.005"), "exported_rows"))
    own = await world.ask("GET", world.at(f"/withdraws{days}"))
    assert (own.status, len(own.document["data"])) == (200, 1)
