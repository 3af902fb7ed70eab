"""Payouts of the same amount are found without reading all of an account's."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_INDEX = "ix_payouts_account_id_centavos_created_at"


def upgrade() -> None:
    """Make the index."""
    op.create_index(_INDEX, "payouts", ["account_id", "centavos", "created_at"])


def downgrade() -> None:
    """Drop the index."""
    op.drop_index(_INDEX, "payouts")
