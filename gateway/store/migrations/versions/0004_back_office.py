"""The back office: approvals, callbacks received, the request log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_COUNTED = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_WAITS = sa.text("state = 'waiting'")


def upgrade() -> None:
    """Make the tables."""
    _make_approvals()
    _make_callbacks()
    _make_request_log()


def downgrade() -> None:
    """Drop the tables."""
    for table in ("request_log", "callbacks", "approvals"):
        op.drop_table(table)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, _INSTANT, nullable=nullable)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=False)


def _make_approvals() -> None:
    op.create_table(
        "approvals",
        *map(_text, ("id", "kind", "account_id", "company_id")),
        _bytes("reference_sha256"),
        _text("reference"),
        sa.Column("centavos", sa.BigInteger(), nullable=False),
        _bytes("sealed_order"),
        *map(_text, ("ordered_by", "orderer")),
        *map(_instant, ("ordered_at", "ends_at")),
        *map(_text, ("state", "decided_by", "decider")),
        _instant("decided_at", nullable=True),
        _text("reason"),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_approvals_account_id"),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="fk_approvals_company_id"),
        sa.CheckConstraint("centavos > 0", name="ck_approvals_above_zero"),
    )
    op.create_index(
        "uq_approvals_waiting",
        "approvals",
        ["kind", "account_id", "reference_sha256"],
        unique=True,
        sqlite_where=_WAITS,
        postgresql_where=_WAITS,
    )
    op.create_index("ix_approvals_ordered_at", "approvals", ["ordered_at"])


def _make_callbacks() -> None:
    op.create_table(
        "callbacks",
        *map(_text, ("id", "provider", "event", "kind", "subject")),
        _instant("received_at"),
        _bytes("body"),
        _text("state"),
        sa.Column("tries", sa.Integer(), nullable=False),
        *(_instant(name, nullable=True) for name in ("due_at", "handled_at")),
        sa.PrimaryKeyConstraint("id", name="pk_callbacks"),
        sa.UniqueConstraint("provider", "event", name="uq_callbacks_provider_event"),
    )
    op.create_index("ix_callbacks_received_at", "callbacks", ["received_at"])
    op.create_index("ix_callbacks_due_at", "callbacks", ["due_at"])


def _make_request_log() -> None:
    op.create_table(
        "request_log",
        sa.Column("number", _COUNTED, primary_key=True),
        _instant("at"),
        *map(_text, ("trace_id", "surface", "route")),
        sa.Column("status", sa.Integer(), nullable=False),
        *map(_text, ("code", "client_id", "user_id", "company_id", "line")),
        sa.PrimaryKeyConstraint("number", name="pk_request_log"),
    )
    op.create_index("ix_request_log_at", "request_log", ["at"])
    op.create_index("ix_request_log_trace_id", "request_log", ["trace_id"])
