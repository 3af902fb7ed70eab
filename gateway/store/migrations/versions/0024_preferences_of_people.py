"""A person keeps language, theme and single keys, whatever browser they use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
compatible_with = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has chosen yet: their browsers say what they want."""
    op.add_column("users", sa.Column("language", sa.Text()))
    op.add_column("users", sa.Column("theme", sa.Text()))
    op.add_column("users", sa.Column("single_keys", sa.Boolean()))


def downgrade() -> None:
    """Forget what was chosen."""
    for name in ("single_keys", "theme", "language"):
        op.drop_column("users", name)
