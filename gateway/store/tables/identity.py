"""The tables of identity, as statements name them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from gateway.store.tables.columns import Instant, Words
from gateway.store.tables.core import METADATA

users = Table(
    "users",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("email", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("password", Text, nullable=False),
    Column("roles", Text, nullable=False),
    Column("companies", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("totp_secret", LargeBinary),
    Column("totp_confirmed_at", Instant),
    Column("totp_step", BigInteger, nullable=False),
    Column("factor_reset", Boolean, nullable=False),
    # Of roles or companies; absent until the first change.
    Column("access_changed_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("language", Text),
    Column("theme", Text),
    Column("single_keys", Boolean),
    # Who they are at their company's identity provider.
    Column("issuer", Text),
    Column("subject", Text),
    UniqueConstraint("issuer", "subject"),
)

# The identity provider of a company, where its people sign in, and what its claims give them.
identity_providers = Table(
    "identity_providers",
    METADATA,
    Column("company_id", Text, ForeignKey("companies.id"), primary_key=True),
    Column("short_name", Text, nullable=False, unique=True),
    # Of e-mail addresses; no domain is of two companies.
    Column("domains", Words, nullable=False),
    Column("issuer", Text, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("sealed_secret", LargeBinary, nullable=False),
    # Asked for beside openid, email and profile.
    Column("scopes", Words, nullable=False),
    Column("claim", Text, nullable=False),
    # JSON: the value of the claim, and the role that it gives.
    Column("mapping", Text, nullable=False),
    # Values by which the provider says that a second factor was given; empty for none.
    Column("factor_acr", Words, nullable=False),
    Column("factor_amr", Words, nullable=False),
    # Ids of users whose local sign-in stays.
    Column("break_glass", Words, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Column("changed_by", Text, nullable=False),
)

recovery_codes = Table(
    "recovery_codes",
    METADATA,
    Column("user_id", Text, ForeignKey("users.id"), primary_key=True),
    Column("index", Integer, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("used_at", Instant),
)

passkeys = Table(
    "passkeys",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("credential_id", Text, nullable=False, unique=True),
    Column("credential", LargeBinary, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
)

sessions = Table(
    "sessions",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.id"), nullable=False, index=True),
    Column("created_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False, index=True),
    Column("seen_at", Instant, nullable=False),
    Column("factor_at", Instant),
    Column("address", Text, nullable=False),
    Column("user_agent", Text, nullable=False),
    Column("panel", Boolean, nullable=False),
    Column("networks", Words, nullable=False),
    # The session at a company's identity provider by which it began; empty for a local sign-in.
    Column("issuer_company", Text, nullable=False),
    Column("issuer_sid", Text, nullable=False, index=True),
    Column("ended_at", Instant, index=True),
    Column("ended_by", Text, nullable=False),
)

refresh_tokens = Table(
    "refresh_tokens",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("session_id", Text, ForeignKey("sessions.id"), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False),
    Column("used_at", Instant),
)

challenges = Table(
    "mfa_challenges",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("user_id", Text, ForeignKey("users.id"), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False, index=True),
    Column("tries", Integer, nullable=False),
    Column("used_at", Instant),
    Column("bound_to", Text, nullable=False),
    Column("issuer_company", Text, nullable=False),
    Column("issuer_sid", Text, nullable=False),
)

mail_tokens = Table(
    "mail_tokens",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("user_id", Text, ForeignKey("users.id"), nullable=False, index=True),
    Column("created_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False, index=True),
    Column("used_at", Instant),
)

panel_sessions = Table(
    "panel_sessions",
    METADATA,
    Column("id_hash", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("csrf", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False, index=True),
    Column("ends_at", Instant, nullable=False, index=True),
    Column("session_id", Text, nullable=False),
    Column("user_id", Text, nullable=False, index=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("access_ends_at", Instant),
    Column("version", Integer, nullable=False),
    Column("lease_until", Instant),
    Column("delivered", Boolean, nullable=False),
    Column("proven_at", Instant),
    Column("address", Text, nullable=False),
    Column("user_agent", Text, nullable=False),
)

signing_keys = Table(
    "signing_keys",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("public", LargeBinary, nullable=False),
    Column("sealed_private", LargeBinary, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("signs_from", Instant, nullable=False),
    Column("retired_at", Instant),
)

failures = Table(
    "failure_counts",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("since", Instant, nullable=False, index=True),
    Column("blocked_until", Instant),
    Column("blocks", Integer, nullable=False),
)

mailbox = Table(
    "mailbox",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("to", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("sent_at", Instant),
    Index("ix_mailbox_created_at", "created_at"),
)
