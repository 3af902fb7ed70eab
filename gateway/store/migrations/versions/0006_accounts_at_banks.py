"""The account that a bank speaks of is found without reading all of them."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_INDEX = "ix_accounts_provider_provider_account"


def upgrade() -> None:
    """Make the index."""
    op.create_index(_INDEX, "accounts", ["provider", "provider_account"])


def downgrade() -> None:
    """Drop the index."""
    op.drop_index(_INDEX, "accounts")
