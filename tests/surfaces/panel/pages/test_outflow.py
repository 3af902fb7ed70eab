"""The outflow guard in the panel: who was outside, and a company beside its envelope."""

from __future__ import annotations

from uuid import uuid4

import pytest

from gateway.core.company_scope import StopScope
from gateway.outflow.envelope import Measure
from gateway.outflow.model import Trip
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_trip_is_listed_and_leads_to_its_subject(world: World, viewer: Person):
    company, now = str(world.demo["companies"]["main"]["id"]), world.gateway.kernel.now()
    records = world.gateway.services.outflows.records
    trip = Trip(
        id=str(uuid4()),
        company_id=company,
        scope=StopScope.COMPANY,
        subject=company,
        measure=Measure.NEW_MONEY,
        window_s=300,
        value=9_876_543,
        bound=1_234_567,
        above=0,
        at=now,
        seen_at=now,
        stop_id=None,
    )
    async with records.database.writing() as connection:
        await records.trip(connection, trip)
    await world.pay(order(f"outflow-{uuid4()}", world.today(), value=12.34))

    listed = await viewer.open("/panel/outflow")
    one = await viewer.open(f"/panel/outflow/company/{company}")

    assert f'href="/panel/outflow/company/{company}"' in listed.text
    assert "98.765,43" in listed.text
    assert "Padrão desta hora" in one.text
    assert "98.765,43" in one.text
    assert "Nenhum pagamento hoje" not in one.text


async def test_a_subject_that_does_not_exist_is_404(viewer: Person):
    for path in (f"company/{uuid4()}", "provider/sandbox", "credential/cli_absent"):
        assert (await viewer.open(f"/panel/outflow/{path}")).status == 404
