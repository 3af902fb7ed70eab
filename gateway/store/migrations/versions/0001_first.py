"""The first schema: stamp, companies, accounts, credentials, payouts, audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_INSTANT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_BY_CODE_POINT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

_TABLES = (
    "audit_head",
    "audit",
    "payout_attempts",
    "payouts",
    "credential_secrets",
    "credentials",
    "accounts",
    "companies",
    "store_stamp",
)
_DONE_TO_AUDIT = ("update", "delete")


def upgrade() -> None:
    """Make every table."""
    _make_stamp()
    _make_companies()
    _make_accounts()
    _make_credentials()
    _make_secrets()
    _make_payouts()
    _make_attempts()
    _make_audit()
    _seal_audit()


def downgrade() -> None:
    """Drop every table, and what guards the audit log."""
    for table in _TABLES:
        op.drop_table(table)
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_audit_change()")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, _INSTANT, nullable=nullable)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=False)


def _make_stamp() -> None:
    op.create_table(
        "store_stamp",
        sa.Column("one", sa.Integer(), nullable=False),
        _text("environment"),
        _text("id"),
        _instant("created_at"),
        sa.PrimaryKeyConstraint("one", name="pk_store_stamp"),
        sa.CheckConstraint("one = 1", name=op.f("ck_store_stamp_one")),
    )


def _make_companies() -> None:
    op.create_table(
        "companies",
        _text("id"),
        _text("name"),
        _instant("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_companies"),
    )


def _make_accounts() -> None:
    op.create_table(
        "accounts",
        _text("id"),
        _text("company_id"),
        _text("name"),
        _text("tax_number"),
        _flag("active"),
        _flag("verified"),
        _text("provider"),
        _text("provider_account"),
        _bytes("sealed_credentials"),
        _text("bank_number"),
        _text("ispb"),
        _text("branch"),
        _text("account"),
        _instant("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="fk_accounts_company_id"),
    )
    op.create_index("ix_accounts_company_id", "accounts", ["company_id"])


def _make_credentials() -> None:
    op.create_table(
        "credentials",
        _text("client_id"),
        _text("company_id"),
        sa.Column("account_id", sa.Text()),
        _text("name"),
        _text("permissions"),
        _instant("created_at"),
        _instant("expires_at", nullable=True),
        _instant("revoked_at", nullable=True),
        sa.PrimaryKeyConstraint("client_id", name="pk_credentials"),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="fk_credentials_company_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_credentials_account_id"),
    )
    op.create_index("ix_credentials_company_id", "credentials", ["company_id"])


def _make_secrets() -> None:
    op.create_table(
        "credential_secrets",
        _text("client_id"),
        sa.Column("position", sa.Integer(), nullable=False),
        _text("key_id"),
        _bytes("digest"),
        _instant("created_at"),
        _instant("expires_at", nullable=True),
        _instant("last_used_at", nullable=True),
        sa.PrimaryKeyConstraint("client_id", "position", name="pk_credential_secrets"),
        sa.ForeignKeyConstraint(
            ["client_id"], ["credentials.client_id"], name="fk_credential_secrets_client_id"
        ),
        sa.CheckConstraint("position IN (0, 1)", name=op.f("ck_credential_secrets_two")),
    )


def _make_payouts() -> None:
    op.create_table(
        "payouts",
        *_payout_key(),
        *_payout_order(),
        *_payout_standing(),
        sa.PrimaryKeyConstraint("account_id", "reference_sha256", name="pk_payouts"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_payouts_account_id"),
        sa.UniqueConstraint("provider_key", name="uq_payouts_provider_key"),
        sa.CheckConstraint("centavos > 0", name=op.f("ck_payouts_above_zero")),
    )
    op.create_index("ix_payouts_account_id_created_at", "payouts", ["account_id", "created_at"])


def _payout_key() -> tuple[sa.Column[str], sa.Column[bytes]]:
    return _text("account_id"), _bytes("reference_sha256")


def _payout_order() -> tuple[SchemaItem, ...]:
    return (
        sa.Column("reference", _BY_CODE_POINT, nullable=False),
        _text("fingerprint"),
        _text("provider_key"),
        _text("provider"),
        _text("client_id"),
        _text("method"),
        sa.Column("centavos", sa.BigInteger(), nullable=False),
        sa.Column("date", sa.Date(), nullable=False),
        _text("description"),
        _text("destination"),
        _text("destination_sent"),
    )


def _payout_standing() -> tuple[SchemaItem, ...]:
    return (
        _text("state"),
        sa.Column("attempt", sa.Integer(), nullable=False),
        _instant("lease_until"),
        _instant("created_at"),
        _instant("updated_at"),
        _instant("settled_at", nullable=True),
        _text("provider_id"),
        _text("e2e_id"),
        sa.Column("failure_code", sa.Text()),
        _flag("failure_forbidden"),
        _flag("review"),
        _instant("next_check_at", nullable=True),
        sa.Column("check_owner", sa.Text()),
        _instant("check_until", nullable=True),
    )


def _make_attempts() -> None:
    op.create_table(
        "payout_attempts",
        *_payout_key(),
        sa.Column("number", sa.Integer(), nullable=False),
        _text("provider"),
        _instant("started_at"),
        _instant("send_deadline"),
        _instant("lease_until"),
        _text("trace_id"),
        sa.Column("outcome", sa.Text()),
        sa.Column("evidence", sa.Text()),
        _instant("ended_at", nullable=True),
        _instant("last_probe_at", nullable=True),
        _instant("next_probe_at", nullable=True),
        sa.PrimaryKeyConstraint(
            "account_id", "reference_sha256", "number", name="pk_payout_attempts"
        ),
        sa.ForeignKeyConstraint(
            ["account_id", "reference_sha256"],
            ["payouts.account_id", "payouts.reference_sha256"],
            name="fk_payout_attempts_account_id_reference_sha256",
        ),
    )


def _make_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        _instant("at"),
        _text("actor"),
        _text("action"),
        _text("subject"),
        _text("details"),
        _text("trace_id"),
        _bytes("hash"),
        sa.PrimaryKeyConstraint("number", name="pk_audit"),
    )
    head = op.create_table(
        "audit_head",
        sa.Column("one", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        _bytes("hash"),
        sa.PrimaryKeyConstraint("one", name="pk_audit_head"),
        sa.CheckConstraint("one = 1", name=op.f("ck_audit_head_one")),
    )
    op.bulk_insert(head, [{"one": 1, "number": 0, "hash": bytes(32)}])


def _seal_audit() -> None:
    """Have the database itself refuse to change or delete an event."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
        )
        return
    for act in _DONE_TO_AUDIT:
        op.execute(
            f"CREATE TRIGGER audit_no_{act} BEFORE {act.upper()} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        )
