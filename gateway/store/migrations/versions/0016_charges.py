"""Charges that were ordered through us; payouts are found by their end-to-end id."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")

_COLUMNS: tuple[sa.Column[Any], ...] = (
    sa.Column("id", sa.Text(), nullable=False),
    sa.Column("account_id", sa.Text(), nullable=False),
    sa.Column("reference_sha256", sa.LargeBinary(), nullable=False),
    sa.Column("reference", sa.Text(), nullable=False),
    sa.Column("provider", sa.Text(), nullable=False),
    sa.Column("type", sa.Text(), nullable=False),
    sa.Column("reusable", sa.Boolean(), nullable=False),
    sa.Column("centavos", sa.BigInteger()),
    sa.Column("state", sa.Text(), nullable=False),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("expires_at", _INSTANT),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.Column("paid_at", _INSTANT),
    sa.Column("e2e_id", sa.Text(), nullable=False),
)
_CONSTRAINTS = (
    sa.PrimaryKeyConstraint("id", name="pk_charges"),
    sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_charges_account_id_accounts"),
    sa.UniqueConstraint(
        "reference_sha256", "account_id", name="uq_charges_reference_sha256_account_id"
    ),
    sa.CheckConstraint("centavos > 0", name="ck_charges_above_zero"),
)


def upgrade() -> None:
    """Make the table; charges made before are not in it."""
    op.create_table("charges", *_COLUMNS, *_CONSTRAINTS)
    op.create_index("ix_charges_created_at_id", "charges", ["created_at", "id"])
    op.create_index(
        "ix_charges_account_id_created_at_id", "charges", ["account_id", "created_at", "id"]
    )
    op.create_index("ix_charges_e2e_id", "charges", ["e2e_id"])
    op.create_index("ix_payouts_e2e_id", "payouts", ["e2e_id"])


def downgrade() -> None:
    """Drop it; the charges themselves stay at their banks."""
    op.drop_index("ix_payouts_e2e_id", "payouts")
    op.drop_table("charges")
