"""What no schema can tell of a partner's calls of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete

from gateway.store.tables.core import sandbox_accounts
from tests.contract.openapi.known import TAX_NUMBER, Body, Knowing, Known, cents, new
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import World, order


async def _key(world: World) -> str:
    keys = (await world.ask("GET", world.at("/pix/keys"))).document["data"]
    found: str = next(each["key"] for each in keys if each["status"] == "active")
    return found


async def _charge(backoffice_client: BackofficeClient) -> str:
    """Make a charge, and return its reference."""
    world, reference = backoffice_client.world, new("charge-")
    path = f"/sandbox/v1/account/{world.demo['accounts']['main']['id']}/charges"
    wanted = {"reference": reference, "type": "Dynamic", "key": await _key(world), "value": 10}
    made = await world.ask("POST", path, document=wanted)
    assert made.status == 200, made.body
    return reference


async def _new_charge(backoffice_client: BackofficeClient) -> Known:
    key = await _key(backoffice_client.world)

    def change(body: Body) -> Body:
        payer = body.get("payer")
        who = {"payer": {**payer, "tax_number": TAX_NUMBER}} if payer else {}
        return {**body, **who, "key": key, "reference": new(body["reference"])}

    return Known(body=change)


def _part(body: Body) -> Body:
    return {"value": cents(body["value"])} if body.get("value") else {}


async def _payment(backoffice_client: BackofficeClient) -> Known:
    """Pay a charge, whole or less."""
    return Known(path={"reference": await _charge(backoffice_client)}, body=_part)


async def _cancelled(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"reference": await _charge(backoffice_client)})


async def _deposit(_: BackofficeClient) -> Known:
    return Known(body=lambda body: {"value": cents(body["value"])})


async def _return(backoffice_client: BackofficeClient) -> Known:
    world, reference = backoffice_client.world, new("returned-")
    await world.pay(order(reference, world.today(), value=20.00))
    await world.settled(reference)

    return Known(path={"reference": reference}, body=_part)


async def _fault(backoffice_client: BackofficeClient) -> Known:
    """Order a fault of a payout that is never ordered, as the only one that waits."""
    await backoffice_client.world.control.delete("faults")

    def change(body: Body) -> Body:
        return {**body, "operation": "payout", "reference": new(body.get("reference") or "never-")}

    return Known(body=change)


async def _credentials(backoffice_client: BackofficeClient) -> Known:
    """Give one to an address that has none yet."""
    await backoffice_client.world.gateway.kernel.store.database.write(delete(sandbox_accounts))
    return Known()


KNOWN: Mapping[str, Knowing] = {
    "sandbox.charge_create": _new_charge,
    "sandbox.charge_pay": _payment,
    "sandbox.charge_cancel": _cancelled,
    "sandbox.top_up": _deposit,
    "sandbox.payout_return": _return,
    "sandbox.fault": _fault,
    "sandbox.credentials": _credentials,
}
