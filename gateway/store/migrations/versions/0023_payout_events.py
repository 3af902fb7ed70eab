"""What happens to payouts is kept event by event; nothing of it is changed, or deleted young."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
compatible_with = "0022"
branch_labels = None
depends_on = None

_REFUSED = "events of payouts are append-only"
# What is kept for a limited time is kept longer than this, whatever the configuration says.
_YOUNG_DAYS = 30
_FUNCTIONS = ("refuse_payout_event_change()", "refuse_young_payout_event()")
_NO_CHANGE = "CREATE TRIGGER payout_events_append_only BEFORE UPDATE"
_NO_DELETE = "CREATE TRIGGER payout_events_young BEFORE DELETE"
_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Make the table; what happened to older payouts is told by their attempts."""
    op.create_table(
        "payout_events",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("reference_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("after", sa.Text()),
        sa.Column("sealed_facts", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("number", name="pk_payout_events"),
    )
    op.create_index(
        "ix_payout_events_account_id_reference_sha256",
        "payout_events",
        ["account_id", "reference_sha256"],
    )
    for statement in _triggers():
        op.execute(statement)


def downgrade() -> None:
    """Forget what happened; attempts and opinions stay."""
    op.drop_table("payout_events")
    if op.get_context().dialect.name == "postgresql":
        for name in _FUNCTIONS:
            op.execute(f"DROP FUNCTION {name}")


def _triggers() -> Iterator[str]:
    """Have the database itself refuse to change an event, or to delete a young one."""
    if op.get_context().dialect.name == "postgresql":
        refuse = f"RAISE EXCEPTION '{_REFUSED}';"
        young = f"IF OLD.at > now() - interval '{_YOUNG_DAYS} days' THEN {refuse} END IF;"
        for name, body in zip(_FUNCTIONS, (refuse, f"{young} RETURN OLD;"), strict=True):
            done = f"LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
            yield f"CREATE FUNCTION {name} RETURNS trigger {done}"
        on, run = "ON payout_events FOR EACH", "EXECUTE FUNCTION"
        yield f"{_NO_CHANGE} OR TRUNCATE {on} STATEMENT {run} {_FUNCTIONS[0]}"
        yield f"{_NO_DELETE} {on} ROW {run} {_FUNCTIONS[1]}"
        return
    refuse = f"BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
    yield f"{_NO_CHANGE} ON payout_events {refuse}"
    young = f"(CAST(strftime('%s', 'now') AS INTEGER) - {_YOUNG_DAYS * 86_400}) * 1000000"
    yield f"{_NO_DELETE} ON payout_events WHEN OLD.at > {young} {refuse}"
