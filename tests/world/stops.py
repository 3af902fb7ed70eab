"""Kill switches for tests: one in the store, and the service over a store."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Protocol

import msgspec
from sqlalchemy import insert

from gateway.app.kernel import Kernel
from gateway.app.services import Services
from gateway.app.store import Store
from gateway.audit import store as audit_log
from gateway.core.access import Staff
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.change_feed import STOPPED
from gateway.core.company_scope import StopScope
from gateway.stops.model import Stop, StopRequest
from gateway.stops.service import stops_in_force
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import stops
from tests.world.stores.samples import ACCOUNT, NOW, event

END = NOW + timedelta(hours=2)
STOP = Stop(
    id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7b01",
    scope=StopScope.ACCOUNT,
    subject=ACCOUNT,
    reason="contas erradas \u2028",
    created_by="maria",
    created_at=NOW,
    ends_at=END,
)


class Office(Protocol):
    """A store with its keys, and its acting user."""

    @property
    def kernel(self) -> Kernel: ...
    @property
    def acting(self) -> AuditContext: ...


def sample(**changed: Any) -> Stop:
    return msgspec.structs.replace(STOP, **changed)


async def plant(store: Store, stop: Stop = STOP, told: AuditEvent | None = None) -> None:
    async with store.database.writing() as connection:
        await connection.execute(insert(stops), row_of(stop))
        await audit_log.append(connection, told or event(STOPPED))


async def stop_payouts(
    office: Office, scope: StopScope = StopScope.PROVIDER, subject: str = "sandbox"
) -> Stop:
    """Stop the payouts of a scope for an hour, as a command does."""
    wanted = StopRequest(scope=scope, subject=subject, reason="contas erradas", minutes=60)
    return await Services(office.kernel).stops.create(Staff(office.acting), wanted)


async def lift(office: Office, stop_id: str) -> None:
    """Let payouts go again, as a command does."""
    await Services(office.kernel).stops.lift(Staff(office.acting), stop_id)


async def in_force(office: Office) -> Sequence[Stop]:
    return await stops_in_force(office.kernel.store.database, office.acting.now())
