"""The outflow guard in the panel: who was outside, and a company beside its envelope."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World, order
from tests.world.outflow.trips import add_trip

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_outflow_trip_is_listed_and_links_to_its_subject(world: World, viewer: Person):
    company = (await add_trip(world)).company_id
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
