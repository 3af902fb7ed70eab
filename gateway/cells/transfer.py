"""
The rows of a company, taken from one PostgreSQL to another by COPY.

``pg_dump`` takes whole tables; one company's rows need a condition, which COPY has. Its binary form
changes no value on the way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from sqlalchemy import delete, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.cells.ownership import OWNED, Owned
from gateway.core.approvals import ApprovalKind, ApprovalState, Outcome
from gateway.payouts.model import FINAL_STATES, PayoutState
from gateway.store.tables.core import accounts, payouts
from gateway.store.tables.figures import HourOf, closed_hours, payout_hours

if TYPE_CHECKING:
    import asyncpg

_AT_REST: Final = ", ".join(f"'{each}'" for each in sorted({*FINAL_STATES, PayoutState.NOT_SENT}))
_UNDER_WAY: Final = (
    "SELECT CASE WHEN review THEN 'in review' ELSE state END AS what, count(*) AS rows"  # noqa: S608 - words of ours
    f" FROM payouts WHERE account_id IN (SELECT id FROM accounts WHERE company_id = $1)"
    f" AND (state NOT IN ({_AT_REST}) OR review) GROUP BY 1"
    " UNION ALL SELECT 'orders of people', count(*) FROM approvals"
    f" WHERE (state = '{ApprovalState.WAITING}' AND ends_at > $2"
    f" OR state = '{ApprovalState.APPROVED}' AND kind = '{ApprovalKind.PAYOUT}'"
    f" AND outcome IN ('{Outcome.NONE}', '{Outcome.UNKNOWN}') AND decided_at > $3)"
    " AND (company_id = $1 OR account_id IN (SELECT id FROM accounts WHERE company_id = $1))"
    " HAVING count(*) > 0"
    " UNION ALL SELECT 'files of payouts', count(*) FROM payout_batches"
    " WHERE state IN ('running', 'held') AND company_id = $1 HAVING count(*) > 0"
    " UNION ALL SELECT 'charges that are being made', count(*) FROM charges"
    " WHERE made_until > $2 AND account_id IN (SELECT id FROM accounts WHERE company_id = $1)"
    " HAVING count(*) > 0 ORDER BY 1"
)
_CARRIED_OUT: Final = timedelta(days=1)
"""After it was approved: what became of an older order is not found out any more."""
_ARRIVED: Final = "arrived_events"
_RETURNED: Final = "returned_payouts"
_CHUNKS: Final = 8
"""Read ahead of the other database."""


@dataclass(frozen=True, slots=True)
class Content:
    """
    What a table holds of a company.

    Attributes:
        centavos: The sum of its amounts; None where it has none.
        digest: Of all values of all rows, in whatever order.
    """

    rows: int
    centavos: int | None
    digest: str


Contents = Mapping[str, Content]
"""By table."""


async def prepare(connection: AsyncConnection) -> asyncpg.Connection:
    """Begin in an open transaction; return the driver's connection for COPY."""
    for setting in (
        "statement_timeout = 0",
        "idle_in_transaction_session_timeout = 0",
        # rows as text are compared with another server's
        "timezone = 'UTC'",
        "datestyle = 'ISO'",
        "bytea_output = 'hex'",
    ):
        await connection.execute(text(f"SET LOCAL {setting}"))
    raw = await connection.get_raw_connection()
    return cast("asyncpg.Connection", raw.driver_connection)


async def under_way(driver: asyncpg.Connection, company: str, now: datetime) -> Mapping[str, int]:
    """Count what is not at rest, by what it is."""
    rows = await driver.fetch(_UNDER_WAY, company, now, now - _CARRIED_OUT)
    return {row["what"]: row["rows"] for row in rows}


async def lock(driver: asyncpg.Connection, company: str) -> None:
    """
    Lock a company's rows until the transaction ends: nothing is added to them or changed.

    A payout refers to its account: while the account is locked none is stored, and none afterwards
    where the account is gone. So no process can pay from rows that have left, however late it is
    and whatever it remembers.
    """
    for each in OWNED:
        if not each.stays:
            await driver.execute(
                f"SELECT FROM {_quoted(each.table.name)} WHERE {each.where} FOR UPDATE",
                company,
            )


async def contents(driver: asyncpg.Connection, company: str) -> Contents:
    """Count, add up and digest a company's rows in each table."""
    found = {}
    for each in OWNED:
        amount = f"sum({each.amount})" if each.amount else "NULL"
        row = await driver.fetchrow(
            f"SELECT count(*) AS rows, {amount}::numeric AS centavos,"  # noqa: S608 - names and conditions of ours
            " coalesce(sum(('x' || left(encode(sha256(convert_to(ROW("
            f"{_listed(each.columns)})::text, 'UTF8')), 'hex'), 15))::bit(60)::bigint), 0)::text"
            f" AS digest FROM {_quoted(each.table.name)} WHERE {each.where}",
            company,
        )
        centavos = None if row["centavos"] is None else int(row["centavos"])
        found[each.table.name] = Content(row["rows"], centavos, row["digest"])
    return found


def different(ours: Contents, theirs: Contents) -> Sequence[str]:
    """Return the tables that do not hold the same."""
    return [name for name, content in ours.items() if theirs[name] != content]


async def copy(source: asyncpg.Connection, target: asyncpg.Connection, company: str) -> None:
    """Copy a company's rows, table by table, into a database that has none of them."""
    for each in OWNED:
        await (_copy_events if each.stays else _copy_rows)(source, target, each, company)


async def _copy_rows(
    source: asyncpg.Connection, target: asyncpg.Connection, owned: Owned, company: str
) -> None:
    listed = _listed(owned.columns)
    query = f"SELECT {listed} FROM {_quoted(owned.table.name)} WHERE {owned.where}"  # noqa: S608 - names and conditions of ours
    if owned.counts is not None:
        query += f" ORDER BY {_quoted(owned.counts.name)}"
    await _stream(source, target, company, _Part(query, owned.table.name, owned.columns))


async def _copy_events(
    source: asyncpg.Connection, target: asyncpg.Connection, owned: Owned, company: str
) -> None:
    """Add the events that the target lacks: it has those of an earlier copy, or of earlier days."""
    name, listed = _quoted(owned.table.name), _listed(owned.columns)
    await target.execute(f"CREATE TEMPORARY TABLE {_ARRIVED} (LIKE {name}) ON COMMIT DROP")
    columns = ("number", *owned.columns)
    query = f"SELECT {_listed(columns)} FROM {name} WHERE {owned.where}"  # noqa: S608 - names and conditions of ours
    await _stream(source, target, company, _Part(query, _ARRIVED, columns))
    same = " AND ".join(
        f"known.{_quoted(each)} IS NOT DISTINCT FROM arrived.{_quoted(each)}"
        for each in owned.columns
    )
    await target.execute(
        f"INSERT INTO {name} ({listed}) SELECT {listed} FROM {_ARRIVED} AS arrived"  # noqa: S608 - names and conditions of ours
        f" WHERE NOT EXISTS (SELECT FROM {name} AS known WHERE {same}) ORDER BY number"
    )


async def payouts_lacking(
    source: asyncpg.Connection, target: asyncpg.Connection, company: str
) -> int:
    """Count the payouts of a company that the source has and the target has not."""
    listed = ("account_id", "reference_sha256", "provider_key")
    await target.execute(
        f"CREATE TEMPORARY TABLE {_RETURNED} ON COMMIT DROP AS"  # noqa: S608 - names of ours
        f" SELECT {_listed(listed)} FROM payouts LIMIT 0"
    )
    of_company = "account_id IN (SELECT id FROM accounts WHERE company_id = $1)"
    names = _listed(listed)
    # archived by now, in one of the two or in both
    query = (
        f"SELECT {names} FROM payouts WHERE {of_company}"  # noqa: S608 - names of ours
        f" UNION ALL SELECT {names} FROM archived_payouts WHERE {of_company}"
    )
    await _stream(source, target, company, _Part(query, _RETURNED, listed))
    found: int = await target.fetchval(
        f"SELECT count(*) FROM {_RETURNED} LEFT JOIN payouts USING ({names})"  # noqa: S608 - names of ours
        f" LEFT JOIN archived_payouts AS archived USING ({names})"
        " WHERE payouts.centavos IS NULL AND archived.centavos IS NULL"
    )
    return found


class _Part(NamedTuple):
    """Rows that a query reads, and where they go."""

    query: str
    table: str
    columns: Sequence[str]


async def _stream(
    source: asyncpg.Connection, target: asyncpg.Connection, company: str, part: _Part
) -> None:
    """Hand rows over while they are read; memory stays flat."""
    chunks: asyncio.Queue[bytes] = asyncio.Queue(_CHUNKS)

    async def read() -> None:
        await source.copy_from_query(part.query, company, output=chunks.put, format="binary")
        await chunks.put(b"")

    async def handed_over() -> AsyncIterator[bytes]:
        while chunk := await chunks.get():
            yield chunk

    async with asyncio.TaskGroup() as both:
        both.create_task(read())
        both.create_task(
            target.copy_to_table(
                part.table, source=handed_over(), columns=[*part.columns], format="binary"
            )
        )


async def clear(driver: asyncpg.Connection, company: str) -> Mapping[str, int]:
    """Delete a company's rows; return how many there were by table. Events stay."""
    gone = {}
    for each in reversed(OWNED):
        if not each.stays:
            done = await driver.execute(
                f"DELETE FROM {_quoted(each.table.name)} WHERE {each.where}",  # noqa: S608 - names and conditions of ours
                company,
            )
            gone[each.table.name] = int(done.rpartition(" ")[2])
    return gone


async def copy_figures(source: AsyncConnection, target: AsyncConnection, company: str) -> None:
    """
    Hand over the sums of the hours that both databases have closed.

    An hour that the target alone has closed is opened again there, and counted anew from payouts;
    one that it has not closed yet is counted from payouts when it does.
    """
    own = select(payout_hours).where(payout_hours.c.company_id == company)
    of_company = select(HourOf(payouts.c.created_at)).where(
        payouts.c.account_id.in_(select(accounts.c.id).where(accounts.c.company_id == company))
    )
    paid_in = set((await source.execute(of_company.distinct())).scalars())
    closed_there = set((await source.execute(select(closed_hours.c.hour))).scalars())
    closed_here = set((await target.execute(select(closed_hours.c.hour))).scalars())
    await target.execute(delete(payout_hours).where(payout_hours.c.company_id == company))
    rows = [
        dict(row)
        for row in (await source.execute(own)).mappings()
        if row[payout_hours.c.hour] in closed_here
    ]
    if rows:
        await target.execute(insert(payout_hours), rows)
    for hour in sorted(paid_in & closed_here - closed_there):
        await target.execute(delete(payout_hours).where(payout_hours.c.hour == hour))
        await target.execute(delete(closed_hours).where(closed_hours.c.hour == hour))


async def clear_figures(connection: AsyncConnection, company: str) -> None:
    """Delete the sums of a company that has left."""
    await connection.execute(delete(payout_hours).where(payout_hours.c.company_id == company))


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(_quoted, columns))


def _quoted(name: str) -> str:
    return f'"{name}"'
