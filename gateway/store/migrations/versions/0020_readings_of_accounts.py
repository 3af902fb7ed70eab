"""What accounts held when their banks were last asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "account_readings",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("balance", sa.BigInteger()),
        sa.Column("blocked", sa.BigInteger()),
        sa.Column("read_at", _INSTANT),
        sa.Column("asked_at", _INSTANT),
        sa.PrimaryKeyConstraint("account_id", name="pk_account_readings"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_account_readings_account_id_accounts",
        ),
    )


def downgrade() -> None:
    """Drop it; banks are asked again."""
    op.drop_table("account_readings")
