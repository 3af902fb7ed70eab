"""Figures of payouts by hour, remembered once nothing in the hour can change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "closed_hours",
        sa.Column("hour", _INSTANT, nullable=False, autoincrement=False),
        sa.PrimaryKeyConstraint("hour", name="pk_closed_hours"),
    )
    op.create_table(
        "payout_hours",
        sa.Column("hour", _INSTANT, nullable=False),
        sa.Column("company_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("settled_within", sa.Integer(), nullable=False),
        sa.Column("payouts", sa.BigInteger(), nullable=False),
        sa.Column("centavos", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            *("hour", "company_id", "state", "settled_within"), name="pk_payout_hours"
        ),
    )


def downgrade() -> None:
    """Drop them; the figures are counted again from the payouts."""
    op.drop_table("payout_hours")
    op.drop_table("closed_hours")
