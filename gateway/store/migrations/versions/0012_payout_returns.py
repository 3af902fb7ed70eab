"""What of settled payouts came back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_PAYOUT = ["account_id", "reference_sha256"]


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "payout_returns",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("reference_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("centavos", sa.BigInteger(), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint(*_PAYOUT, "id", name="pk_payout_returns"),
        sa.ForeignKeyConstraint(
            _PAYOUT,
            [f"payouts.{name}" for name in _PAYOUT],
            name="fk_payout_returns_account_id_reference_sha256_payouts",
        ),
        sa.CheckConstraint("centavos > 0", name="ck_payout_returns_above_zero"),
    )


def downgrade() -> None:
    """Drop it; banks tell the returns again to whoever verifies."""
    op.drop_table("payout_returns")
