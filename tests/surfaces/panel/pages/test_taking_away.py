"""Limits of each person for owners of keys, files and rows, in panel and back office."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from gateway.core.limits import CallRate
from gateway.core.rights import Role
from gateway.http.routing import CSV
from tests.surfaces.panel.pages.person import signed_in
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import World, opened, order, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOOKUP = "/pix/keys/lookup"
MARIA = {"key": "maria@example.com"}
FEW = CallRate(rate=0.01, burst=2)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway in which a person takes two of each, and an alarm comes with the second row."""
    settings = sandbox(tmp_path_factory.mktemp("away"))
    limits = msgspec.structs.replace(
        settings.ratelimits,
        owner_lookups=FEW,
        exports=FEW,
        exported_rows=CallRate(rate=0.01, burst=10),
        alarming_rows=CallRate(rate=0.01, burst=1),
    )
    async with opened(msgspec.structs.replace(settings, ratelimits=limits)) as made:
        yield made


@pytest.fixture(scope="module")
def office(world: World) -> BackofficeClient:
    return BackofficeClient(world)


async def acts(office: BackofficeClient, action: str) -> list[dict[str, object]]:
    found = await office.ask("GET", f"/backoffice/v1/audit?action={action}", by="security")
    rows: list[dict[str, object]] = found.document["data"]
    return rows


async def test_owner_look_ups_are_limited_per_operator(office: BackofficeClient):
    first = [(await office.post(LOOKUP, MARIA)).status for _ in range(2)]

    refused = await office.post(LOOKUP, MARIA)

    assert first == [200, 200]
    assert refused.verdict == (429, "SVC.GTW.005")
    assert refused.document["reason"] == "owner_lookups"
    assert 0 < int(refused.headers["Retry-After"]) <= 100
    assert len(await acts(office, "pix_key.look_up.done")) == 2


async def test_summaries_and_orders_count_towards_the_limit_of_owner_look_ups(world: World):
    """A summary and its order count once."""
    person = await signed_in(world, Role.OPERATOR)
    typed = {
        "method": "pix",
        "account_id": world.demo["accounts"]["main"]["id"],
        "value": "10,00",
        "key_type": "email",
        "key": MARIA["key"],
        "tax_number": "11144477735",
    }
    await person.open("/panel/payouts/new")
    seen = (await person.send("/panel/payouts/new", typed)).text
    reference = seen.partition('name="reference" value="')[2].partition('"')[0]
    sent = {**typed, "step": "send", "reference": reference}

    other = await person.send("/panel/payouts/new", sent)
    made = await person.send("/panel/payouts/new", {**sent, "difference_reason": "marido"})
    await person.open("/panel/payouts/new")
    refused = await person.send("/panel/payouts/new", typed)

    assert (other.status, "difference_reason" in other.text) == (400, True)
    assert made.status == 303
    assert refused.status == 429


async def test_a_role_without_the_right_cannot_download(world: World):
    approver = await signed_in(world, Role.APPROVER)

    assert "/panel/payouts/export" not in (await approver.open("/panel/payouts")).text
    assert (await approver.open("/panel/payouts/export")).status == 403


async def test_large_exports_are_recorded_and_too_many_are_refused(
    world: World, office: BackofficeClient
):
    """The panel shows it on a page, the back office as a refusal; both say until when."""
    for number in range(3):
        await world.pay(order(f"away-{number}", world.today()))

    files = [
        await office.ask("POST", "/backoffice/v1/payouts/export", {}, by="viewer", kind=CSV)
        for _ in range(2)
    ]
    refused = await office.ask("POST", "/backoffice/v1/payouts/export", {}, by="viewer")
    person = await signed_in(world, Role.VIEWER)
    for _ in range(2):
        assert (await person.open("/panel/payouts/export")).status == 200
    shown = await person.open("/panel/payouts/export")

    assert [each.status for each in files] == [200, 200]
    assert refused.verdict == (429, "SVC.GTW.005")
    assert refused.document["reason"] == "exports"
    assert (shown.status, "text/html" in shown.headers["Content-Type"]) == (429, True)
    assert min(int(each.headers["Retry-After"]) for each in (refused, shown)) > 0
    viewer = f"user:{world.demo['users']['viewer']['email']}"
    large = [each for each in await acts(office, "export.large") if each["actor"] == viewer]
    assert [each["details"] for each in large] == [{"file": "payouts"}] * 2
