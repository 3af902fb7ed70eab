"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
# The oldest schema whose processes may go on beside this one: see CONTRIBUTING.md, "Migrations".
compatible_with = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add it."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Take it back."""
    ${downgrades if downgrades else "pass"}
