"""The stamp says which schema's processes may go on with the store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
compatible_with = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Who brings the schema up or down writes it, each time."""
    op.add_column("store_stamp", sa.Column("compatible_with", sa.Text()))


def downgrade() -> None:
    """Older processes accept their own schema alone, and do not ask."""
    op.drop_column("store_stamp", "compatible_with")
