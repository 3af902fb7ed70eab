"""The audit log and callbacks know their companies; the audit log has room for its seals."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_ADDED: dict[str, dict[str, sa.types.TypeEngine[Any]]] = {
    "audit": {"companies": sa.Text(), "key_id": sa.Text()},
    "audit_head": {"key_id": sa.Text(), "seal": sa.LargeBinary()},
    "callbacks": {"company_id": sa.Text()},
}
_INDEXES: dict[str, tuple[str, str]] = {
    "audit": ("companies", "number"),
    "callbacks": ("company_id", "received_at"),
}

_ALLOW_UPDATE = "DROP TRIGGER audit_no_update"
_NO_UPDATE = (
    "CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
)
_UNSEALED = "length(OLD.seal) > 0 AND NEW.seal = OLD.seal"
_REFUSAL = "an older version must not append to a sealed audit log"

# What an event of before is about tells whose it is; the rest stays with people of no limit.
_OF_SUBJECT = {
    "company": "SELECT id FROM companies WHERE id = {key}",
    "account": "SELECT company_id FROM accounts WHERE id = {key}",
    "credential": "SELECT company_id FROM credentials WHERE client_id = {key}",
    "payout": (
        "SELECT accounts.company_id FROM payouts JOIN accounts ON accounts.id = payouts.account_id "
        "WHERE payouts.provider_key = {key}"
    ),
    "approval": "SELECT company_id FROM approvals WHERE id = {key}",
    "user": "SELECT companies FROM users WHERE id = {key}",
    "stop": (
        "SELECT CASE scope WHEN 'company' THEN subject "
        "WHEN 'account' THEN "
        "(SELECT company_id FROM accounts WHERE accounts.id = payout_stops.subject) "
        "WHEN 'credential' THEN "
        "(SELECT company_id FROM credentials WHERE client_id = payout_stops.subject) END "
        "FROM payout_stops WHERE payout_stops.id = {key}"
    ),
}
_CALLBACKS = (
    "UPDATE callbacks SET company_id = coalesce((SELECT accounts.company_id FROM payouts "
    "JOIN accounts ON accounts.id = payouts.account_id "
    "WHERE payouts.provider_key = callbacks.subject AND payouts.provider = callbacks.provider), '')"
    " WHERE kind = 'payout'"
)


def upgrade() -> None:
    """Add the columns, and find the companies of what is there."""
    for table, columns in _ADDED.items():
        for name, kind in columns.items():
            op.add_column(table, sa.Column(name, kind, nullable=False, server_default=_empty(kind)))
    op.execute(_CALLBACKS)
    _fill_audit()
    for table, of in _INDEXES.items():
        op.create_index(f"ix_{table}_{'_'.join(of)}", table, list(of))
    _guard_head()


def downgrade() -> None:
    """Drop them; a log that was sealed looks broken to an older version from there on."""
    op.execute(
        "DROP TRIGGER audit_head_sealed" + (" ON audit_head" if _is_postgres() else ""),
    )
    if _is_postgres():
        op.execute("DROP FUNCTION refuse_unsealed_head()")
    for table, of in _INDEXES.items():
        op.drop_index(f"ix_{table}_{'_'.join(of)}", table)
    for table, columns in _ADDED.items():
        for name in columns:
            op.drop_column(table, name)


def _is_postgres() -> bool:
    return op.get_context().dialect.name == "postgresql"


def _empty(kind: sa.types.TypeEngine[Any]) -> sa.TextClause:
    """Return nothing as a column of a kind takes it; SQLite tells bytes from text."""
    is_bytes = isinstance(kind, sa.LargeBinary) and not _is_postgres()
    return sa.text("x''" if is_bytes else "''")


def _fill_audit() -> None:
    """Write what the guards of the audit log refuse to anybody else: its new column, once."""
    op.execute("ALTER TABLE audit DISABLE TRIGGER USER" if _is_postgres() else _ALLOW_UPDATE)
    found = " ".join(
        f"WHEN subject LIKE '{kind}:%' "
        f"THEN ({lookup.format(key=f'substr(audit.subject, {len(kind) + 2})')})"
        for kind, lookup in _OF_SUBJECT.items()
    )
    op.execute(f"UPDATE audit SET companies = coalesce(CASE {found} END, '')")  # noqa: S608 - our own words
    op.execute("ALTER TABLE audit ENABLE TRIGGER USER" if _is_postgres() else _NO_UPDATE)


def _guard_head() -> None:
    """
    Have the database refuse a head that moves without its seal.

    A process of an older version that still runs beside the new ones would
    append unsealed events, and the log would be called broken for ever.
    """
    if not _is_postgres():
        op.execute(
            f"CREATE TRIGGER audit_head_sealed BEFORE UPDATE ON audit_head WHEN {_UNSEALED} "
            f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION refuse_unsealed_head() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_head_sealed BEFORE UPDATE ON audit_head FOR EACH ROW "
        f"WHEN ({_UNSEALED}) EXECUTE FUNCTION refuse_unsealed_head()"
    )
