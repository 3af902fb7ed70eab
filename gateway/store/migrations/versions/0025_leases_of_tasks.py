"""Workers share tasks: each has a lease on those that one of them should do at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
compatible_with = "0022"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Nobody has taken one yet; processes of the release before take none."""
    op.create_table(
        "task_leases",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("ends_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("task", name="pk_task_leases"),
    )


def downgrade() -> None:
    """Forget who does what: claims of payouts and callbacks stand with those."""
    op.drop_table("task_leases")
