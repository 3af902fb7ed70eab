"""The tables of the back office, as statements name them; the rest is in ``tables``."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from gateway.store.tables.columns import Instant, Words
from gateway.store.tables.core import METADATA

WAITS = text("state = 'waiting'")
"""Of an order that nobody has decided; ``postgres`` sets it there, loaded where it is used."""

approvals = Table(
    "approvals",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("account_id", Text, ForeignKey("accounts.id")),
    Column("company_id", Text, ForeignKey("companies.id")),
    Column("subject", Text, nullable=False),
    Column("reference_sha256", LargeBinary, nullable=False),
    Column("reference", Text, nullable=False),
    Column("centavos", BigInteger, CheckConstraint("centavos > 0", name="above_zero")),
    Column("sealed_order", LargeBinary, nullable=False),
    Column("ordered_by", Text, nullable=False),
    Column("orderer", Text, nullable=False),
    Column("ordered_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided_by", Text, nullable=False),
    Column("decider", Text, nullable=False),
    Column("decided_at", Instant),
    Column("reason", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("outcome_code", Text, nullable=False),
    Column("collected_at", Instant),
    # Two orders of one reference at once would be two chances to pay it.
    Index(
        "uq_approvals_waiting",
        "kind",
        "subject",
        "reference_sha256",
        unique=True,
        sqlite_where=WAITS,
    ),
    Index("ix_approvals_account_id_reference_sha256", "account_id", "reference_sha256"),
    Index("ix_approvals_ordered_at", "ordered_at"),
    # The orders of one file of payouts.
    Index("ix_approvals_subject", "subject"),
)

# Files of payouts; one that was refused has problems and no rows.
batches = Table(
    "payout_batches",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("company_id", Text, ForeignKey("companies.id"), nullable=False),
    Column("name", Text, nullable=False),
    # Of the file's bytes: the same file is recognised.
    Column("file_sha256", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("payouts", Integer, nullable=False),
    Column("centavos", BigInteger, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("maker", Text, nullable=False),
    Column("made_at", Instant, nullable=False),
    # The date of its payouts, since it is carried out.
    Column("day", Date),
    # Since when it is carried out: since the approval, or since a person let it go on.
    Column("began_at", Instant),
    Column("held_for", Text, nullable=False),
    # Who let it go on after it was held, as ids.
    Column("resumed_by", Words, nullable=False),
    Column("ended_at", Instant),
    Index("ix_payout_batches_made_at", "made_at"),
    Index("ix_payout_batches_account_id_file_sha256", "account_id", "file_sha256"),
    Index(
        "ix_payout_batches_state",
        "state",
        sqlite_where=text("state IN ('running', 'held', 'ordered')"),
    ),
)

# The payouts of a file, numbered as its rows are; each is fixed when the file is read.
batch_rows = Table(
    "payout_batch_rows",
    METADATA,
    Column("batch_id", Text, ForeignKey("payout_batches.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("reference_sha256", LargeBinary, nullable=False),
    Column("reference", Text, nullable=False),
    Column("centavos", BigInteger, nullable=False),
    Column("sealed_order", LargeBinary, nullable=False),
    # What stands out, in words.
    Column("odd", Words, nullable=False),
    Column("state", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("began_at", Instant),
    Index("ix_payout_batch_rows_account_id_reference_sha256", "account_id", "reference_sha256"),
    # What a killed process was at; few rows are ever in it.
    Index("ix_payout_batch_rows_began_at", "began_at", sqlite_where=text("state = 'ordering'")),
)

batch_problems = Table(
    "payout_batch_problems",
    METADATA,
    Column("batch_id", Text, ForeignKey("payout_batches.id"), primary_key=True),
    # 0 of the file as a whole.
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("field", Text, nullable=False),
    Column("reason", Text, nullable=False),
)

callbacks = Table(
    "callbacks",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("received_at", Instant, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due_at", Instant),
    Column("handled_at", Instant),
    Column("company_id", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("named_by", Text, nullable=False),
    Column("provider_id", Text, nullable=False),
    UniqueConstraint("provider", "event"),
    Index("ix_callbacks_received_at", "received_at"),
    Index("ix_callbacks_due_at", "due_at"),
    Index("ix_callbacks_company_id_received_at", "company_id", "received_at"),
)

REFUSED = text("code <> ''")
OF_CREDENTIAL = text("client_id <> ''")
OF_ACCOUNT = text("account_id <> ''")
OF_COMPANY = text("company_id <> ''")
"""Conditions of indexes of the request log; a statement that repeats one may use its index."""

requests = Table(
    "request_log",
    METADATA,
    # SQLite counts by itself in a column of this very type alone.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("at", Instant, nullable=False),
    Column("trace_id", Text, nullable=False),
    Column("surface", Text, nullable=False),
    Column("route", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("code", Text, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("company_id", Text, nullable=False),
    Column("line", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("account_id", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("duration_us", BigInteger, nullable=False),
    # PostgreSQL's key begins with it.
    Index("ix_request_log_at", "at").ddl_if(dialect="sqlite"),
    Index("ix_request_log_trace_id", "trace_id"),
    Index("ix_request_log_code_at", "code", "at", sqlite_where=REFUSED),
    Index("ix_request_log_client_id_at", "client_id", "at", sqlite_where=OF_CREDENTIAL),
    Index("ix_request_log_account_id_at", "account_id", "at", sqlite_where=OF_ACCOUNT),
    Index("ix_request_log_company_id_at", "company_id", "at", sqlite_where=OF_COMPANY),
)
