"""Opinions say which review they belong to: that of an attempt in a state."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
compatible_with = "0022"
branch_labels = None
depends_on = None

_OF_THE_REVIEW_NOW = """
UPDATE payout_opinions SET (attempt, state) = (
    SELECT payouts.attempt, payouts.state FROM payouts
    WHERE payouts.account_id = payout_opinions.account_id
      AND payouts.reference_sha256 = payout_opinions.reference_sha256
      AND payouts.review AND payouts.updated_at <= payout_opinions.at
)
"""


def upgrade() -> None:
    """Add the columns; what was said before the payout's latest step counts no more."""
    op.add_column("payout_opinions", sa.Column("attempt", sa.Integer()))
    op.add_column("payout_opinions", sa.Column("state", sa.Text()))
    op.execute(_OF_THE_REVIEW_NOW)


def downgrade() -> None:
    """Forget which review it was."""
    for name in ("state", "attempt"):
        op.drop_column("payout_opinions", name)
