"""A process that changes one thing in a store, as a command of an operator does."""

import asyncio
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from gateway.domain.payouts.stops import STOPPED, Stop, StopScope
from gateway.store.engine import open_store
from tests.world.stores.samples import ACCOUNT, CLIENT, NOW, account, credential, event

STOP = Stop(
    id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7b01",
    scope=StopScope.PROVIDER,
    subject="sandbox",
    reason="fraud",
    created_by="maria",
    created_at=NOW,
    ends_at=NOW + timedelta(hours=1),
)


async def _change(url: str, what: str) -> None:
    store = open_store(url)
    subject = f"credential:{CLIENT}"
    match what:
        case "revoke":
            await store.credentials.revoke(CLIENT, NOW, event("credential.revoked", subject))
        case "create":
            await store.credentials.add(credential(), event("credential.issued", subject))
        case "close":
            closed = replace(account(), active=False)
            await store.accounts.replace(closed, event("account.changed", f"account:{ACCOUNT}"))
        case "stop":
            await store.stops.add(STOP, event(STOPPED, "provider:sandbox"))
    await store.close()


asyncio.run(_change(*sys.argv[1:]))
