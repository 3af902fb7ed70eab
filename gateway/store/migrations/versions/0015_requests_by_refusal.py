"""Requests are found by account, method, reason and duration; what one trace did is found by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TEXTS = ("method", "account_id", "reason")
_PARTIAL = ("code", "client_id", "account_id", "company_id")


def upgrade() -> None:
    """Add columns and indexes; older requests have no method, account, reason or duration."""
    for name in _TEXTS:
        column = sa.Column(name, sa.Text(), nullable=False, server_default="")
        op.add_column("request_log", column)
    op.add_column(
        "request_log", sa.Column("duration_us", sa.BigInteger(), nullable=False, server_default="0")
    )
    for name in _PARTIAL:
        filled = sa.text(f"{name} <> ''")
        op.create_index(
            f"ix_request_log_{name}_at",
            "request_log",
            [name, "at"],
            sqlite_where=filled,
            postgresql_where=filled,
        )
    op.create_index("ix_payout_attempts_trace_id", "payout_attempts", ["trace_id"])
    op.create_index("ix_audit_trace_id", "audit", ["trace_id"])


def downgrade() -> None:
    """Forget them."""
    op.drop_index("ix_audit_trace_id", "audit")
    op.drop_index("ix_payout_attempts_trace_id", "payout_attempts")
    for name in _PARTIAL:
        op.drop_index(f"ix_request_log_{name}_at", "request_log")
    with op.batch_alter_table("request_log") as table:
        for name in (*_TEXTS, "duration_us"):
            table.drop_column(name)
