"""What several tests of accounts share."""

from __future__ import annotations

from uuid import uuid4

from gateway.banks.port.pix_keys import PixKeyStatus
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World


def at(world: World, rest: str = "", account: str = "main") -> str:
    return f"/panel/accounts/{world.demo['accounts'][account]['id']}{rest}"


async def key(world: World) -> str:
    account = await world.gateway.kernel.store.accounts.find(world.demo["accounts"]["main"]["id"])
    banks = world.gateway.services.banks
    bank = banks.of(account)
    keys = await bank.adapter.list_keys(bank.account)
    return next(each.key for each in keys if each.status is PixKeyStatus.ACTIVE)


async def made(operator: Person, world: World, **more: str) -> str:
    """Make a charge by the form; return its reference."""
    reference = uuid4().hex[:26]
    await operator.open(at(world, "/new-charge"))
    fields = {"reference": reference, "type": "Dynamic", "key": await key(world)}
    seen = await operator.send(at(world, "/new-charge"), {**fields, "value": "10,50", **more})
    assert (seen.status, seen.location) == (303, at(world, f"/charges/{reference}")), seen.text
    return reference
