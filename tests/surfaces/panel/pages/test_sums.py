"""A balance beyond an amount's limit: no sandbox takes it, and a bank that has it is shown."""

from __future__ import annotations

import pytest

from gateway.core.money import MAX_CENTAVOS, Money
from gateway.core.rights import Role
from provider_adapters.testing.bank import accounts
from provider_adapters.testing.bank.control_client import ControlRefused
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOST = Money(MAX_CENTAVOS)
MORE = "10.000.000.099.999,99"
"""What the account opens with, and one payment of the largest amount there is."""
ON_THE_WIRE = "10000000099999.99"


async def balance(world: World) -> str:
    """Return the amounts of the account, without the second that they were read in."""
    said = await world.ask("GET", world.at("/balance"), pair=world.pair("full"))
    assert said.status == 200, said.body
    return said.body.decode().partition(',"updated_at"')[0]


async def test_a_deposit_beyond_the_largest_amount_is_refused(world: World, operator: Person):
    """By the panel, the control interface or a charge; nothing is booked."""
    before = await balance(world)
    account = world.demo["accounts"]["main"]["id"]
    await operator.open("/panel/sandbox")

    refused = await operator.send(
        "/panel/sandbox/top-up", {"account_id": account, "value": "9.999.999.999.999,99"}
    )
    codes, body = [], {"kind": "ted_in", "value": MOST}
    for path in ("top-up", "incoming", "movements"):
        with pytest.raises(ControlRefused) as problem:
            await world.control.post("accounts", account, path, body=body)
        codes.append((problem.value.status, problem.value.code))

    assert refused.status == 400
    assert "acima do maior valor" in refused.text
    assert set(codes) == {(400, "BALANCE_LIMIT")}
    assert await balance(world) == before


async def test_a_bank_s_balance_is_a_sum(
    world: World, operator: Person, monkeypatch: pytest.MonkeyPatch
):
    """On every surface: partners, back office, files and pages."""
    account = world.demo["accounts"]["main"]["id"]
    monkeypatch.setattr(accounts, "require_room", lambda *_: None)
    await world.control.post("accounts", account, "top-up", body={"value": MOST})
    today = world.today()
    keeper = await signed_in(world, *Role)

    told = await world.ask(
        "GET", world.at(f"/transactions?init={today}&ends={today}"), pair=world.pair("full")
    )
    files = {
        form: await keeper.open(f"/panel/accounts/{account}/statement/export?format={form}")
        for form in ("csv", "ofx", "pdf")
    }
    pages = [
        await keeper.open(path)
        for path in (
            f"/panel/accounts/{account}?read=1",
            f"/panel/accounts/{account}/statement?read=1",
            f"/panel/payouts/new/balance?account_id={account}&value=1,00",
            f"/panel/accounts/{account}/closing?read=1",
            "/panel?read=1",
        )
    ]

    assert ON_THE_WIRE in await balance(world)
    assert told.status == 200, told.body
    assert ON_THE_WIRE in told.body.decode()
    assert {form: each.status for form, each in files.items()} == dict.fromkeys(files, 200)
    assert {each.status for each in pages} == {200}
    assert MORE in pages[0].text
    assert MORE in pages[1].text
    assert MORE in pages[2].text
