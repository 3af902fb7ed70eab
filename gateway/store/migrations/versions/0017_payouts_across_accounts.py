"""Payouts are listed across accounts, and those without a proven outcome without reading all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_UNRESOLVED = sa.text("state = 'unknown' OR review")
_FAILED = sa.text("failure_code IS NOT NULL")


def upgrade() -> None:
    """Make the indexes."""
    op.create_index("ix_payouts_created_at", "payouts", ["created_at"])
    op.create_index(
        "ix_payouts_unresolved",
        "payouts",
        ["created_at"],
        sqlite_where=_UNRESOLVED,
        postgresql_where=_UNRESOLVED,
    )
    op.create_index(
        "ix_payouts_failure_code_created_at",
        "payouts",
        ["failure_code", "created_at"],
        sqlite_where=_FAILED,
        postgresql_where=_FAILED,
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("failure_code_created_at", "unresolved", "created_at"):
        op.drop_index(f"ix_payouts_{name}", "payouts")
