"""People: users, sign-ins, tokens, panel sessions, signing keys, mail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_TABLES = (
    "outbox",
    "failure_counts",
    "signing_keys",
    "panel_sessions",
    "mail_tokens",
    "mfa_challenges",
    "refresh_tokens",
    "sessions",
    "recovery_codes",
    "users",
)


def upgrade() -> None:
    """Make the tables."""
    _make_users()
    _make_recovery_codes()
    _make_sessions()
    _make_refresh_tokens()
    _make_challenges()
    _make_mail_tokens()
    _make_panel_sessions()
    _make_signing_keys()
    _make_failure_counts()
    _make_outbox()


def downgrade() -> None:
    """Drop the tables."""
    for table in _TABLES:
        op.drop_table(table)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, _INSTANT, nullable=nullable)


def _bytes(name: str, *, nullable: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=nullable)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _of_user(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=f"fk_{table}_user_id")


def _make_users() -> None:
    op.create_table(
        "users",
        *map(_text, ("id", "email", "name", "password", "roles", "companies")),
        _flag("active"),
        _bytes("totp_secret", nullable=True),
        _instant("totp_confirmed_at", nullable=True),
        sa.Column("totp_step", sa.BigInteger(), nullable=False),
        _flag("factor_reset"),
        _instant("created_at"),
        _instant("updated_at"),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("email", name="uq_users_email"),
    )


def _make_recovery_codes() -> None:
    op.create_table(
        "recovery_codes",
        _text("user_id"),
        _number("index"),
        _text("digest"),
        _instant("used_at", nullable=True),
        sa.PrimaryKeyConstraint("user_id", "index", name="pk_recovery_codes"),
        _of_user("recovery_codes"),
    )


def _make_sessions() -> None:
    op.create_table(
        "sessions",
        *map(_text, ("id", "user_id")),
        *map(_instant, ("created_at", "ends_at", "seen_at")),
        _instant("factor_at", nullable=True),
        *map(_text, ("address", "user_agent")),
        _flag("panel"),
        _instant("ended_at", nullable=True),
        _text("ended_by"),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        _of_user("sessions"),
    )
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])


def _make_refresh_tokens() -> None:
    op.create_table(
        "refresh_tokens",
        _bytes("digest"),
        _text("session_id"),
        _number("number"),
        *map(_instant, ("created_at", "ends_at")),
        _instant("used_at", nullable=True),
        sa.PrimaryKeyConstraint("digest", name="pk_refresh_tokens"),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_refresh_tokens_session_id"
        ),
    )
    op.create_index("ix_refresh_tokens_session_id", "refresh_tokens", ["session_id"])


def _make_challenges() -> None:
    op.create_table(
        "mfa_challenges",
        _bytes("digest"),
        _text("user_id"),
        *map(_instant, ("created_at", "ends_at")),
        _number("tries"),
        _instant("used_at", nullable=True),
        _text("bound_to"),
        sa.PrimaryKeyConstraint("digest", name="pk_mfa_challenges"),
        _of_user("mfa_challenges"),
    )


def _make_mail_tokens() -> None:
    op.create_table(
        "mail_tokens",
        _bytes("digest"),
        *map(_text, ("purpose", "user_id")),
        *map(_instant, ("created_at", "ends_at")),
        _instant("used_at", nullable=True),
        sa.PrimaryKeyConstraint("digest", name="pk_mail_tokens"),
        _of_user("mail_tokens"),
    )
    op.create_index("ix_mail_tokens_user_id", "mail_tokens", ["user_id"])


def _make_panel_sessions() -> None:
    op.create_table(
        "panel_sessions",
        *map(_text, ("id_hash", "state", "csrf")),
        *map(_instant, ("created_at", "seen_at", "ends_at")),
        *map(_text, ("session_id", "user_id")),
        _bytes("sealed"),
        _instant("access_ends_at", nullable=True),
        _number("version"),
        _instant("lease_until", nullable=True),
        *map(_text, ("address", "user_agent")),
        sa.PrimaryKeyConstraint("id_hash", name="pk_panel_sessions"),
    )
    op.create_index("ix_panel_sessions_user_id", "panel_sessions", ["user_id"])


def _make_signing_keys() -> None:
    op.create_table(
        "signing_keys",
        _text("id"),
        *map(_bytes, ("public", "sealed_private")),
        *map(_instant, ("created_at", "signs_from")),
        _instant("retired_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_signing_keys"),
    )


def _make_failure_counts() -> None:
    op.create_table(
        "failure_counts",
        _text("key"),
        _number("count"),
        _instant("since"),
        _instant("blocked_until", nullable=True),
        _number("blocks"),
        sa.PrimaryKeyConstraint("key", name="pk_failure_counts"),
    )


def _make_outbox() -> None:
    op.create_table(
        "outbox",
        *map(_text, ("id", "to", "subject", "text")),
        _instant("created_at"),
        _instant("sent_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
    )
    op.create_index("ix_outbox_created_at", "outbox", ["created_at"])
