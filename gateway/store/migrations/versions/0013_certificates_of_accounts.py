"""Certificates of accounts: when each expires stands beside what is sealed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Accounts so far have no certificate: their secret is one text."""
    op.add_column("accounts", sa.Column("certificate_ends_at", _INSTANT))


def downgrade() -> None:
    """Forget when certificates end; what is sealed stays."""
    op.drop_column("accounts", "certificate_ends_at")
