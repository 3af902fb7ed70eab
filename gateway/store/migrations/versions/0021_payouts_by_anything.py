"""Payouts are found by reference, by the bank's id, and by a keyed digest of the recipient."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_SHORT = sa.text("length(reference) <= 200")
_NAMED = sa.text("provider_id <> ''")
_KNOWN = sa.text("payee_digest IS NOT NULL")


def upgrade() -> None:
    """Add column and indexes; older payouts are not found by their recipient."""
    op.add_column("payouts", sa.Column("payee_digest", sa.LargeBinary()))
    for name, columns, where in (
        ("reference", ["reference"], _SHORT),
        ("provider_id", ["provider_id"], _NAMED),
        ("payee_digest_created_at", ["payee_digest", "created_at"], _KNOWN),
    ):
        op.create_index(
            f"ix_payouts_{name}", "payouts", columns, sqlite_where=where, postgresql_where=where
        )


def downgrade() -> None:
    """Forget them."""
    for name in ("payee_digest_created_at", "provider_id", "reference"):
        op.drop_index(f"ix_payouts_{name}", "payouts")
    op.drop_column("payouts", "payee_digest")
