"""A payout keeps what its bank said: the owner of its key, and an amount other than ordered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
compatible_with = "0022"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("payouts", "key_owner", sa.Text),
    ("payouts", "moved_centavos", sa.BigInteger),
    ("payout_opinions", "centavos", sa.BigInteger),
)


def upgrade() -> None:
    """Add the columns; rows of before have none, and no other amount is known of them."""
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind()))


def downgrade() -> None:
    """Drop them; that owner or amount differed from the order is forgotten."""
    for table, name, _ in _COLUMNS:
        op.drop_column(table, name)
