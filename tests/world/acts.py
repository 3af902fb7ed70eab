"""Acts on record, as a test reads them."""

from collections.abc import Sequence

from gateway.app.store import Store
from gateway.audit.service import AuditEntry, AuditLog
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.net.common.runtime import utc_now
from tests.world.exports import exports


def audit_log(store: Store) -> AuditLog:
    return AuditLog(database=store.database, chain=store.audit, exports=exports())


def reader(scope: CompanyScope = EVERY_COMPANY) -> Staff:
    return Staff(AuditContext("cli:test", utc_now), scope)


async def acts_of(
    store: Store, scope: CompanyScope = EVERY_COMPANY, after: int = 0
) -> Sequence[AuditEntry]:
    """Return the acts in scope that follow a number, in the order of the chain."""
    return await audit_log(store).export(reader(scope), after)
