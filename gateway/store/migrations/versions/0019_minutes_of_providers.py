"""How calls to banks went, by minute and process."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_PLACES = 20
_KEY = ("provider", "operation", "minute", "worker")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "provider_minutes",
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("minute", sa.BigInteger(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("ok", sa.Integer(), nullable=False),
        sa.Column("last_failure", sa.Text(), nullable=False),
        *(sa.Column(f"took_{place}", sa.Integer(), nullable=False) for place in range(_PLACES)),
        sa.PrimaryKeyConstraint(*_KEY, name="pk_provider_minutes"),
    )
    op.create_index("ix_provider_minutes_minute", "provider_minutes", ["minute"])


def downgrade() -> None:
    """Drop it; the metrics tell the same of each process."""
    op.drop_table("provider_minutes")
