"""Opens the database that a URL names: one SQLite file, or a PostgreSQL server."""

from __future__ import annotations

from gateway.store.kernel.address import address, is_sqlite
from gateway.store.kernel.database import Database, Limits, failures_as_ours


def open_database(url: str, limits: Limits) -> Database:
    """Open the database alone; raises as ``open_store`` does."""
    where = address(url)
    with failures_as_ours():
        if is_sqlite(where):
            from gateway.store.kernel.sqlite import open_file  # noqa: PLC0415 - one dialect is loaded

            return open_file(where, limits)
        from gateway.store.kernel.postgres import open_server  # noqa: PLC0415 - (same reason)

        return open_server(where, limits)
