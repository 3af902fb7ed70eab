"""What several tests of forms share."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select

from gateway.audit import log as audit_log
from gateway.notifications.watch import SENT
from gateway.store.tables.core import audit
from gateway.store.tables.every import METADATA
from tests.browser.panel_site import PanelSite

BY_THEMSELVES = frozenset(
    {"request_log", "panel_sessions", "identity_sessions"}
    | {
        "payouts",
        "payout_attempts",
        "payout_checks",
        "payout_events",
        "payout_returns",
        "payouts_by_people",
        "callbacks",
    }
    | {"account_readings", "closed_hours", "payout_hours", "provider_minutes"}
    | {"task_leases", "processes", "credential_addresses"}
    | {"events", "received", "refunded", "payment_walks", "day_readings"}
    | {"deliveries", "delivery_tries", "notifications", "mailbox", "bank_outages"}
    | {"outflow_hours", "outflow_payees", "outflow_progress", "outflow_trips"}
)
"""
Tables that change while nobody acts: requests are logged, sessions renewed, payouts settle and
their banks say so, figures are kept, tasks have leases, processes register, addresses of calls are
noted, partners are told of events, days are compared, the outflow guard looks, people are told
what needs them.
"""
COUNTED = (audit_log.REFUSED, *audit_log.FAILED.values(), "approval.read", "batch.read", SENT)
"""
Acts that change nothing: what was refused is counted, and noted once a minute; a form that is
shown again shows an order to whoever may decide on it; people are told what needs them.
"""


async def stored(site: PanelSite) -> Mapping[str, int]:
    """Count the rows of every table that only an act changes; each act is in the audit log."""
    counts = {}
    async with site.world.gateway.kernel.store.database.reading() as connection:
        for table in METADATA.sorted_tables:
            if table.name not in BY_THEMSELVES:
                asked = select(func.count()).select_from(table)
                if table is audit:
                    asked = asked.where(audit.c.action.not_in(COUNTED))
                counts[table.name] = (await connection.execute(asked)).scalar_one()
    return counts
