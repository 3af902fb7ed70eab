"""Credentials may have limits: the most of one payout, and of a UTC day, in centavos."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_LIMITS = ("limit_payout", "limit_day")


def upgrade() -> None:
    """Add the columns."""
    for name in _LIMITS:
        op.add_column("credentials", sa.Column(name, sa.BigInteger()))


def downgrade() -> None:
    """Drop them; credentials are without limits then."""
    for name in _LIMITS:
        op.drop_column("credentials", name)
