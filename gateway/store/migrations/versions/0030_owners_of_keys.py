"""A payout keeps the owner of its key, as the bank named them to whoever ordered it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
compatible_with = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; payouts of before have none, as those of partners."""
    op.add_column("payouts", sa.Column("key_owner", sa.Text()))


def downgrade() -> None:
    """Drop it; that a number was another one than the owner's is forgotten."""
    op.drop_column("payouts", "key_owner")
