"""Payouts without an outcome in a PostgreSQL store: as many as it takes to have always one due."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

import asyncpg

_REFERENCE: Final = "model.reference || '-' || i"
_KEY: Final = "md5(model.provider_key || i)"
_CHANGED: Final[Mapping[str, str]] = {
    "reference": _REFERENCE,
    "reference_sha256": f"sha256(convert_to({_REFERENCE}, 'UTF8'))",
    "provider_key": _KEY,
    "provider_id": _KEY,
    "trace_id": "one.trace_id || '-' || i",
}
_MODELS: Final = "CREATE TEMPORARY TABLE {0}_models AS SELECT * FROM {0}"
_COLUMNS: Final = (
    "SELECT column_name FROM information_schema.columns "
    "WHERE table_schema = 'public' AND table_name = $1"
)
_DUE: Final = (
    "UPDATE payouts SET next_check_at = now() - interval '5 seconds', "
    "check_owner = NULL, check_until = NULL"
)
_COUNTED: Final = (
    "SELECT count(*) FILTER (WHERE next_check_at <= now()) AS due, "
    "count(*) FILTER (WHERE next_check_at > now()) AS looked_at FROM payouts"
)


class Standing(NamedTuple):
    """How many payouts are due, and how many were looked at since all were."""

    due: int
    looked_at: int


async def copy(database: str, times: int) -> None:
    """Copy every payout of a store so often, with its attempt; whatever tree made the store."""
    async with _connected(database) as connection:
        for table in ("payouts", "payout_attempts"):
            await connection.execute(_MODELS.format(table))
        for table in ("payouts", "payout_attempts"):
            rows = await connection.fetch(_COLUMNS, table)
            names = [row["column_name"] for row in rows]
            values = ", ".join(_CHANGED.get(name, f"one.{name}") for name in names)
            await connection.execute(
                f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} "  # noqa: S608 - names are ours
                f"FROM generate_series(1, {times}) AS i, {table}_models AS one "
                "JOIN payouts_models AS model USING (account_id, reference_sha256)"
            )
        await connection.execute("VACUUM ANALYZE")


async def make_due(database: str) -> None:
    """Have every payout due, and claimed by nobody."""
    async with _connected(database) as connection:
        await connection.execute(_DUE)
        await connection.execute("VACUUM ANALYZE payouts")


async def standing(database: str) -> Standing:
    """Count them."""
    async with _connected(database) as connection:
        row = await connection.fetchrow(_COUNTED)
        return Standing(row["due"], row["looked_at"])


@asynccontextmanager
async def _connected(database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database)
    try:
        yield connection
    finally:
        await connection.close()
