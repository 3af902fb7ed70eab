"""Callbacks keep what names their account: one body may speak of several accounts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_DEFAULTS = {"account": "", "named_by": "account"}


def upgrade() -> None:
    """Add the columns; what came before belongs to no account that is still to be found."""
    for name, default in _DEFAULTS.items():
        op.add_column(
            "callbacks", sa.Column(name, sa.Text(), nullable=False, server_default=default)
        )


def downgrade() -> None:
    """Forget them."""
    with op.batch_alter_table("callbacks") as table:
        for name in _DEFAULTS:
            table.drop_column(name)
