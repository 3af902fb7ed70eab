"""Following payouts up: what is due, stops, and opinions on payouts in review."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_UNSETTLED = "('sending', 'unknown', 'accepted', 'not_sent')"


def upgrade() -> None:
    """Make the tables; what is unsettled already is due when its lease ends."""
    op.create_index("ix_payouts_next_check_at", "payouts", ["next_check_at"])
    op.execute(f"UPDATE payouts SET next_check_at = lease_until WHERE state IN {_UNSETTLED}")  # noqa: S608 - constants
    _make_stops()
    _make_opinions()


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("payout_opinions")
    op.drop_table("payout_stops")
    op.drop_index("ix_payouts_next_check_at", "payouts")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _make_stops() -> None:
    op.create_table(
        "payout_stops",
        _text("id"),
        _text("scope"),
        _text("subject"),
        _text("reason"),
        _text("created_by"),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("ends_at", _INSTANT, nullable=False),
        sa.Column("lifted_at", _INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_payout_stops"),
    )


def _make_opinions() -> None:
    op.create_table(
        "payout_opinions",
        _text("account_id"),
        sa.Column("reference_sha256", sa.LargeBinary(), nullable=False),
        _text("by"),
        _text("verdict"),
        _text("reason"),
        sa.Column("at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "reference_sha256", "by", name="pk_payout_opinions"),
        sa.ForeignKeyConstraint(
            ["account_id", "reference_sha256"],
            ["payouts.account_id", "payouts.reference_sha256"],
            name="fk_payout_opinions_account_id_reference_sha256",
        ),
    )
