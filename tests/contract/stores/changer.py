"""One change of a store, as a command of an operator makes it; as a program, a revocation."""

import asyncio
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from gateway.app.store import Store
from gateway.core.change_feed import STOPPED
from gateway.core.company_scope import StopScope
from gateway.stops.model import Stop
from tests.world.stops import plant
from tests.world.store import open_store
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


async def change(store: Store, what: str) -> None:
    """Revoke or create a credential, close an account, or stop payouts."""
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
            await plant(store, STOP, event(STOPPED, "provider:sandbox"))


async def _revoke(url: str) -> None:
    store = open_store(url)
    await change(store, "revoke")
    await store.close()


if __name__ == "__main__":
    asyncio.run(_revoke(sys.argv[1]))
