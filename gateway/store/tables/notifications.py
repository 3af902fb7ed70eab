"""The tables of notifications, which people and chats get outside the panel."""

from __future__ import annotations

from sqlalchemy import (
    Column,
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
"""A text, as it stands in the index: with a parameter no database uses it."""

# What a person has chosen; without a row the defaults hold.
notification_choices = Table(
    "notification_choices",
    METADATA,
    Column("user_id", Text, ForeignKey("users.id"), primary_key=True),
    # Kinds that are mailed at once, and kinds that are mailed together in the evening.
    Column("at_once", Words, nullable=False),
    Column("digest", Words, nullable=False),
    Column("push", Words, nullable=False),
    # Times of day in São Paulo; both empty for no quiet hours.
    Column("quiet_from", Text, nullable=False),
    Column("quiet_until", Text, nullable=False),
)

# Rooms of a company's or the operators' chat; the address lets anybody write there.
chats = Table(
    "chats",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("company_id", Text, ForeignKey("companies.id"), index=True),
    Column("name", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("sealed_url", LargeBinary, nullable=False),
    Column("kinds", Words, nullable=False),
    Column("language", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("last_ok_at", Instant),
    Column("failing_since", Instant),
)

# One of each recipient, occasion and way, kept after it was sent: it is never written again.
notifications = Table(
    "notifications",
    METADATA,
    Column("id", Text, primary_key=True),
    # A user or a chat.
    Column("recipient", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("way", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("claimed_until", Instant),
    UniqueConstraint("recipient", "kind", "subject", "way"),
    Index("ix_notifications_created_at", "created_at"),
    Index(
        "ix_notifications_way_due_at",
        "way",
        "due_at",
        sqlite_where=WAITS,
        postgresql_where=WAITS,
    ),
)

# Browsers that are sent push messages: where, and under which keys, is in the sealed address.
push_subscriptions = Table(
    "push_subscriptions",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.id"), nullable=False, index=True),
    Column("endpoint_digest", LargeBinary, nullable=False, unique=True),
    Column("sealed_address", LargeBinary, nullable=False),
    Column("browser", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("last_ok_at", Instant),
)

# When the calls to a bank began to fail, and when they went well again.
bank_outages = Table(
    "bank_outages",
    METADATA,
    Column("provider", Text, primary_key=True),
    Column("since", Instant, primary_key=True, autoincrement=False),
    Column("until", Instant),
)
