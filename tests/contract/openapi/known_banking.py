"""What no schema can tell of a partner's calls."""

from __future__ import annotations

from collections.abc import Mapping

from tests.contract.openapi.known import Knowing, Known, payout, today
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway import routes


async def _window(backoffice_client: BackofficeClient) -> Known:
    return Known(query=today(backoffice_client))


async def _key(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"key_id": backoffice_client.world.demo["pix_keys"]["main"][0]})


async def _charge(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"reference": backoffice_client.world.demo["charges"]["paid"]})


async def _payout(backoffice_client: BackofficeClient) -> Known:
    await routes.prepared(backoffice_client.world)
    return Known(path={"reference": routes.PAID})


async def _new_payout(backoffice_client: BackofficeClient) -> Known:
    return Known(body=payout(backoffice_client))


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
