"""Payouts whose outcome is not proven, within a company scope, oldest first."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from gateway.core.company_scope import CompanyScope
from gateway.core.windows import Listed, Paging
from gateway.payouts.beside import rows_beside
from gateway.payouts.model import Payout
from gateway.payouts.rows import restored_attempt, restored_opinion, restored_payout
from gateway.reviews.model import UnresolvedPayout
from gateway.store.kernel.database import Database, page
from gateway.store.tables.columns import Record
from gateway.store.tables.core import UNRESOLVED, accounts, attempts, opinions, payouts
from gateway.store.tables.scope import of_account, of_company

_ORDER = payouts.c.created_at, payouts.c.account_id, payouts.c.reference_sha256


async def in_review(database: Database, scope: CompanyScope, paging: Paging) -> Listed[Payout]:
    """Return a page of the payouts in review."""
    own = of_account(payouts.c.account_id, scope)
    wanted = select(payouts).where(UNRESOLVED, payouts.c.review, *own).order_by(*_ORDER)
    return await page(database, wanted, paging, restored_payout)


async def unresolved(
    database: Database, scope: CompanyScope, paging: Paging
) -> Listed[UnresolvedPayout]:
    """Return a page of the payouts that are unknown or in review."""
    wanted = (
        select(payouts, accounts.c.name.label("account_name"))
        .join(accounts, accounts.c.id == payouts.c.account_id)
        .where(UNRESOLVED, *of_account(payouts.c.account_id, scope))
        .order_by(*_ORDER)
    )
    listed = await page(database, wanted, paging, lambda row: row)
    keys = [(row.account_id, row.reference_sha256) for row in listed.items]
    tried = await rows_beside(database, attempts, keys, (attempts.c.number,))
    said = await rows_beside(database, opinions, keys, (opinions.c.at, opinions.c.by))
    found = [
        _unresolved(row, tried[key], said[key]) for row, key in zip(listed.items, keys, strict=True)
    ]
    return Listed(items=found, paging=paging, total=listed.total)


async def has_account(database: Database, account_id: str, scope: CompanyScope) -> bool:
    """Return the SQL condition: an account is in scope."""
    own = accounts.c.id == account_id.lower(), *of_company(accounts.c.company_id, scope)
    return await database.first(select(accounts.c.id).where(*own)) is not None


def _unresolved(row: Record, tried: Sequence[Record], said: Sequence[Record]) -> UnresolvedPayout:
    payout = restored_payout(row)
    opinions_given = (restored_opinion(each, row.reference) for each in said)
    return UnresolvedPayout(
        payout=payout,
        account_name=row.account_name,
        attempts=[restored_attempt(each) for each in tried],
        opinions=[each for each in opinions_given if each.is_about(payout)],
    )
