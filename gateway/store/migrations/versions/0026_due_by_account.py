"""Payouts that are due are found by bank and account."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
compatible_with = "0022"
branch_labels = None
depends_on = None

_NAME = "ix_payouts_provider_account_id_next_check_at"
_PLANNED = sa.text("next_check_at IS NOT NULL")


def upgrade() -> None:
    """Add an index; the one of instants alone stays, for processes of the release before."""
    op.create_index(
        _NAME,
        "payouts",
        ["provider", "account_id", "next_check_at"],
        sqlite_where=_PLANNED,
        postgresql_where=_PLANNED,
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_index(_NAME, "payouts")
