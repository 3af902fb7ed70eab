"""How many payouts an account has is remembered by day, and forgotten where one comes late."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
compatible_with = "0022"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_MICROSECONDS = 86_400_000_000
# PostgreSQL runs triggers in the order of their names: behind the one that holds the account's row
# for the foreign key, whose name begins with RI.
_NAME = "payouts_forget_total"
_FUNCTION = "forget_payout_total()"


def upgrade() -> None:
    """Nothing is counted yet; processes of the release before set off the trigger too."""
    op.create_table(
        "payout_totals",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("day", _INSTANT, nullable=False),
        sa.Column("until", _INSTANT, nullable=False),
        sa.Column("announced", _INSTANT, nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "day", name="pk_payout_totals"),
    )
    for statement in _triggers():
        op.execute(statement)


def downgrade() -> None:
    """Count every time again."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"DROP TRIGGER {_NAME} ON payouts")
        op.execute(f"DROP FUNCTION {_FUNCTION}")
    else:
        for act in ("insert", "update", "delete"):
            op.execute(f"DROP TRIGGER {_NAME}_{act}")
    op.drop_table("payout_totals")


def _triggers() -> Iterator[str]:
    """Have the database forget a day in which a payout appears, moves or is gone."""
    if op.get_context().dialect.name == "postgresql":
        new, old = (_forget(row, "interval '24 hours'") for row in ("NEW", "OLD"))
        yield (
            f"CREATE FUNCTION {_FUNCTION} RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF TG_OP <> 'DELETE' THEN {new} END IF; "
            f"IF TG_OP <> 'INSERT' THEN {old} END IF; "
            "RETURN NULL; END $$"
        )
        yield (
            f"CREATE TRIGGER {_NAME} AFTER INSERT OR DELETE OR UPDATE OF account_id, created_at "
            f"ON payouts FOR EACH ROW EXECUTE FUNCTION {_FUNCTION}"
        )
        return
    new, old = (_forget(row, str(_MICROSECONDS)) for row in ("NEW", "OLD"))
    for act, of, body in (
        ("insert", "", new),
        ("update", " OF account_id, created_at", f"{new} {old}"),
        ("delete", "", old),
    ):
        on = f"AFTER {act.upper()}{of} ON payouts"
        yield f"CREATE TRIGGER {_NAME}_{act} {on} BEGIN {body} END"


def _forget(row: str, day: str) -> str:
    """Write the statement that forgets the day of a row, as far as it was announced."""
    return (
        "UPDATE payout_totals SET until = day, announced = day, total = 0, changes = changes + 1 "  # noqa: S608 - texts of ours
        f"WHERE account_id = {row}.account_id AND day <= {row}.created_at "
        f"AND day > {row}.created_at - {day} AND announced > {row}.created_at;"
    )
