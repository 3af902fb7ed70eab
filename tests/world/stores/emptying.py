"""Statements that empty a PostgreSQL store, in a tenth of the time that TRUNCATE takes."""

from gateway.store.tables.every import METADATA

_DELETING = " ".join(
    f"DELETE FROM {table};"  # noqa: S608 - our own tables' names
    for table in reversed(METADATA.sorted_tables)
)
EMPTYING = [
    "ALTER TABLE audit DISABLE TRIGGER USER",
    "ALTER TABLE audit_head DISABLE TRIGGER USER",
    "ALTER TABLE payout_events DISABLE TRIGGER USER",
    # A tenth of what TRUNCATE costs: that makes every file of every table anew.
    f"DO $$ BEGIN {_DELETING} END $$",
    "ALTER TABLE audit ENABLE TRIGGER USER",
    "ALTER TABLE audit_head ENABLE TRIGGER USER",
    "ALTER TABLE payout_events ENABLE TRIGGER USER",
    "INSERT INTO audit_head VALUES (1, 0, decode(repeat('00', 32), 'hex'), '', '')",
]
