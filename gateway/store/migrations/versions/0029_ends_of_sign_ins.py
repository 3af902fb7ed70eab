"""What is left of sign-ins is found by its age, so that it is deleted a little at a time."""

from __future__ import annotations

from alembic import op

revision = "0029"
down_revision = "0028"
compatible_with = "0022"
branch_labels = None
depends_on = None

_AGES = (
    ("sessions", "ends_at"),
    ("sessions", "ended_at"),
    ("mfa_challenges", "ends_at"),
    ("mail_tokens", "ends_at"),
    ("panel_sessions", "seen_at"),
    ("panel_sessions", "ends_at"),
    ("failure_counts", "since"),
)


def upgrade() -> None:
    """Add indexes; these tables have a week of sign-ins, not payouts."""
    for table, column in _AGES:
        op.create_index(f"ix_{table}_{column}", table, [column])


def downgrade() -> None:
    """Drop them."""
    for table, column in _AGES:
        op.drop_index(f"ix_{table}_{column}", table)
