"""The sandbox's tools, as people use them."""

from __future__ import annotations

import pytest

from gateway.core.rights import Role
from tests.surfaces.panel.pages.accounts import at, made
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_charge_is_paid_in_the_sandbox_and_shown_as_paid(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    reference = await made(operator, world)
    await operator.open("/panel/sandbox")
    fields = {"account_id": world.demo["accounts"]["main"]["id"], "reference": reference}

    done = await operator.send("/panel/sandbox/pay", fields)
    again = await operator.send("/panel/sandbox/pay", fields)

    assert (done.status, done.location) == (303, "/panel/sandbox?done=pay")
    assert "Está paga" in (await operator.open(at(world, f"/charges/{reference}?read=1"))).text
    assert again.status >= 400
    assert f'value="{reference}"' in again.text


async def test_an_account_is_topped_up(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open("/panel/sandbox")
    fields = {"account_id": world.demo["accounts"]["main"]["id"], "value": "1.000,00"}

    assert (await operator.send("/panel/sandbox/top-up", fields)).status == 303


async def test_a_fault_is_set_and_cleared(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open("/panel/sandbox")

    done = await operator.send(
        "/panel/sandbox/fault", {"operation": "refund", "fault": "hang", "count": "7"}
    )
    shown = await operator.open(done.location)
    await operator.send("/panel/sandbox/clear")
    endless = await operator.send(
        "/panel/sandbox/fault", {"operation": "refund", "fault": "hang", "count": "0"}
    )

    assert "mais 7 chamadas" in shown.text
    assert "Nenhuma falha pendente" in (await operator.open("/panel/sandbox")).text
    assert endless.status == 400


async def test_controls_of_the_whole_bank_are_refused_to_limited_users(world: World):
    mine = frozenset({world.demo["companies"]["main"]["id"]})
    limited = await signed_in(world, Role.OPERATOR, companies=mine)
    await limited.open("/panel/sandbox")

    for path, fields in (
        ("clock", {"hours": "1"}),
        ("clear", {}),
        ("fault", {"operation": "*", "fault": "hang", "count": "1"}),
        ("pay", {"account_id": world.demo["accounts"]["other_company"]["id"], "reference": "x"}),
    ):
        assert (await limited.send(f"/panel/sandbox/{path}", fields)).status >= 400


async def test_a_viewer_sees_the_page_without_a_form(viewer: Person):
    seen = await viewer.open("/panel/sandbox")

    assert seen.status == 200
    assert "777,06" in seen.text
    assert "/panel/sandbox/pay" not in seen.text
