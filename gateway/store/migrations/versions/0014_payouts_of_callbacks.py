"""Callbacks keep the bank's id of a payout: some banks find a payout by nothing else."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; no callback so far named a payout by the bank's id."""
    column = sa.Column("provider_id", sa.Text(), nullable=False, server_default="")
    op.add_column("callbacks", column)


def downgrade() -> None:
    """Forget it."""
    with op.batch_alter_table("callbacks") as table:
        table.drop_column("provider_id")
