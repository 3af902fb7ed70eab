"""A payout may be held by its bank until a deadline."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Add the column."""
    op.add_column("payouts", sa.Column("held_until", _INSTANT))


def downgrade() -> None:
    """Drop it; held payouts are accepted ones then, looked at as usual."""
    op.drop_column("payouts", "held_until")
