"""Approvals of every kind: about credentials and people too, with what became of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_WAITS = sa.text("state = 'waiting'")
_WAITING, _ORDERED = "uq_approvals_waiting", "ix_approvals_ordered_at"
_TEXTS = ("subject", "outcome", "outcome_code")
_OPTIONAL: dict[str, sa.types.TypeEngine[str] | sa.types.TypeEngine[int]] = {
    "account_id": sa.Text(),
    "company_id": sa.Text(),
    "centavos": sa.BigInteger(),
}


def upgrade() -> None:
    """Let an order be about no account and no money."""
    _drop_indexes()
    with op.batch_alter_table("approvals", table_args=(_above_zero(),)) as table:
        for name in _TEXTS:
            table.add_column(sa.Column(name, sa.Text(), nullable=False, server_default=""))
        table.add_column(sa.Column("collected_at", _INSTANT))
        for name, kind in _OPTIONAL.items():
            table.alter_column(name, existing_type=kind, nullable=True)
    op.execute("UPDATE approvals SET subject = account_id")
    with op.batch_alter_table("approvals", table_args=(_above_zero(),)) as table:
        for name in _TEXTS:
            table.alter_column(name, existing_type=sa.Text(), server_default=None)
    _make_indexes("subject")


def downgrade() -> None:
    """Forget the orders that are about no money, and what became of the others."""
    _drop_indexes()
    op.execute("DELETE FROM approvals WHERE kind NOT IN ('payout', 'refund')")
    op.execute("UPDATE approvals SET state = 'rejected' WHERE state = 'void'")
    with op.batch_alter_table("approvals", table_args=(_above_zero(),)) as table:
        for name in (*_TEXTS, "collected_at"):
            table.drop_column(name)
        for name, kind in _OPTIONAL.items():
            table.alter_column(name, existing_type=kind, nullable=False)
    _make_indexes("account_id")


def _above_zero() -> sa.CheckConstraint:
    """Return what SQLite's new table is to have too: it is not read from the old one."""
    return sa.CheckConstraint("centavos > 0", name="ck_approvals_above_zero")


def _drop_indexes() -> None:
    for name in (_WAITING, _ORDERED):
        op.drop_index(name, "approvals")


def _make_indexes(subject: str) -> None:
    op.create_index(
        _WAITING,
        "approvals",
        ["kind", subject, "reference_sha256"],
        unique=True,
        sqlite_where=_WAITS,
        postgresql_where=_WAITS,
    )
    op.create_index(_ORDERED, "approvals", ["ordered_at"])
