"""Alembic's way in: runs revisions on the connection ``gateway.store.schema`` hands over."""

from __future__ import annotations

from alembic import context

from gateway.store.tables.every import METADATA

# The transaction is the caller's: Alembic neither begins nor ends one.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table="pixgate_schema",
)
with context.begin_transaction():
    context.run_migrations()
