"""Every request of the standard that the adapter makes, as it was asked of each simulator."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import urlencode

from gateway.banks.client.messages import ProviderRequest
from provider_adapters.apipix.profiles import Name
from tests.contract.apipix.conftest import Exchange, Watched, simulated
from tests.contract.apipix.document import ACTS, standard


def every_request() -> Sequence[ProviderRequest]:
    """Return them in the order in which they were asked; some are asked more than once."""
    return [_request(each) for each in asyncio.run(_asked())]


async def _asked() -> list[Exchange]:
    asked: list[Exchange] = []
    for name in Name:
        async with simulated(name) as (stage, adapter):
            bank = Watched(stage, adapter)
            for act in ACTS.values():
                await act(bank)
            asked += standard(bank.asked(), name)
    return asked


def _request(asked: Exchange) -> ProviderRequest:
    query = f"?{urlencode(asked.query)}" if asked.query else ""
    return ProviderRequest(
        operation="",
        method=asked.method,
        template=asked.path,
        path=asked.path + query,
        headers={"Authorization": asked.headers["Authorization"]},
        body=asked.body,
    )
