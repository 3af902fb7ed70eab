"""What no schema can tell of a partner's calls."""

from __future__ import annotations

from collections.abc import Mapping

from tests.contract.openapi.known import Knowing, Known, payout, today
from tests.surfaces import rows
from tests.surfaces.backoffice.desk import Desk


async def _window(desk: Desk) -> Known:
    return Known(query=today(desk))


async def _key(desk: Desk) -> Known:
    return Known(path={"key_id": desk.world.demo["pix_keys"]["main"][0]})


async def _charge(desk: Desk) -> Known:
    return Known(path={"reference": desk.world.demo["charges"]["paid"]})


async def _payout(desk: Desk) -> Known:
    await rows.prepared(desk.world)
    return Known(path={"reference": rows.PAID})


async def _new_payout(desk: Desk) -> Known:
    return Known(body=payout(desk))


KNOWN: Mapping[str, Knowing] = {
    "banking.payout": _payout,
    "banking.payout_cancel": _payout,
    "banking.payout_create": _new_payout,
    "banking.payouts": _window,
    "banking.pix_key": _key,
    "banking.pix_transaction": _charge,
    "banking.qrcode": _charge,
    "banking.statement": _window,
}
