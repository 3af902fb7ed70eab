"""
The tables, as statements name them.

These tables and the migrations' must be the same; a test compares them. Amounts are
centavos, instants UTC.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    Date,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    select,
    text,
)

from gateway.store.tables.columns import BY_CODE_POINT, Instant, Words

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

stamps = Table(
    "store_stamp",
    METADATA,
    Column(
        "one",
        Integer,
        CheckConstraint("one = 1", name="one"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("environment", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    # The oldest schema whose processes may work on this one; as its last migration declares.
    Column("compatible_with", Text, nullable=False),
)

# Which worker does a task that one of them should do at a time, and until when.
task_leases = Table(
    "task_leases",
    METADATA,
    Column("task", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("ends_at", Instant, nullable=False),
)

# Which processes are alive, and which keys each has, as ids; see `core/key_rotation.py`.
processes = Table(
    "processes",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("keys", Text, nullable=False),
    Column("ends_at", Instant, nullable=False),
)

companies = Table(
    "companies",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    # The address of mail to its people; empty for none.
    Column("contact", Text, nullable=False),
)

# The last move of a company between cells, in both; without a foreign key, for it outlives the rows
# of the company in the cell that it has left.
company_moves = Table(
    "company_moves",
    METADATA,
    Column("company_id", Text, primary_key=True),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("state", Text, nullable=False),
    # Of the payouts as they arrived.
    Column("digest", Text, nullable=False),
    Column("began_at", Instant, nullable=False),
    Column("ended_at", Instant),
)

accounts = Table(
    "accounts",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("company_id", Text, ForeignKey("companies.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("tax_number", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("verified", Boolean, nullable=False),
    Column("provider", Text, nullable=False),
    Column("provider_account", Text, nullable=False),
    Column("sealed_credentials", LargeBinary, nullable=False),
    Column("certificate_ends_at", Instant),
    Column("bank_number", Text, nullable=False),
    Column("ispb", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    # A bank speaks of an account by its own name of it.
    Index("ix_accounts_provider_provider_account", "provider", "provider_account"),
)

credentials = Table(
    "credentials",
    METADATA,
    Column("client_id", Text, primary_key=True),
    Column("company_id", Text, ForeignKey("companies.id"), nullable=False, index=True),
    Column("account_id", Text, ForeignKey("accounts.id")),
    Column("name", Text, nullable=False),
    Column("permissions", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    # In centavos; absent ones do not limit.
    Column("limit_payout", BigInteger),
    Column("limit_day", BigInteger),
    Column("limit_payout_at_night", BigInteger),
    Column("limit_night", BigInteger),
    # Where it may be used, as JSON; absent until somebody decides.
    Column("callers", Text),
    # Of which one signs each payout, as JSON; absent where there is none.
    Column("public_keys", Text),
    # The last change of either: what was ordered by then and is held is not sent.
    Column("rules_changed_at", Instant),
)

# Position 0 is the current secret, 1 the one rotated away: a third has no place.
secrets = Table(
    "credential_secrets",
    METADATA,
    Column("client_id", Text, ForeignKey("credentials.client_id"), primary_key=True),
    Column(
        "position", Integer, CheckConstraint("position IN (0, 1)", name="two"), primary_key=True
    ),
    Column("key_id", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("last_used_at", Instant),
    # Users; empty for the command line. Neither lifts a stop of the outflow guard of its payouts,
    # and who ordered it may not release its held payouts.
    Column("ordered_by", Text, nullable=False),
    Column("approved_by", Text, nullable=False),
)

# Ends of credentials and of rotated secrets that partners were told of, so many days before.
expiry_notices = Table(
    "expiry_notices",
    METADATA,
    Column("client_id", Text, ForeignKey("credentials.client_id"), primary_key=True),
    Column("ends_at", Instant, primary_key=True),
    Column("days", Integer, primary_key=True),
)

# Addresses that showed a right secret, for people to make a rule of.
credential_addresses = Table(
    "credential_addresses",
    METADATA,
    Column("client_id", Text, ForeignKey("credentials.client_id"), primary_key=True),
    Column("address", Text, primary_key=True),
    Column("first_used_at", Instant, nullable=False),
    Column("last_used_at", Instant, nullable=False),
    Column("refused_at", Instant),
)

# Accounts that partners of an open sandbox opened by themselves, until they are closed. Without a
# foreign key: the row counts before its account is made.
sandbox_accounts = Table(
    "sandbox_accounts",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("network", Text, nullable=False, index=True),
    Column("opened_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False, index=True),
)

UNRESOLVED = text("payouts.exception = 'unresolved'")
"""The outcome is not proven: unknown yet, or for people to find out."""

# Each payment of a payout writes its row some times. PostgreSQL writes no index then if no column
# of any index changes, so none of state, review, next_check_at, e2e_id and provider_id is in one:
# ``planned_checks``, ``bank_names`` and ``exception`` are what finds them. Each index costs every
# payout; what few payouts need is a table that triggers keep.
payouts = Table(
    "payouts",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("reference_sha256", LargeBinary, primary_key=True),
    Column("reference", BY_CODE_POINT, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("provider_key", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column(
        "centavos", BigInteger, CheckConstraint("centavos > 0", name="above_zero"), nullable=False
    ),
    Column("date", Date, nullable=False),
    Column("description", Text, nullable=False),
    Column("destination", Text, nullable=False),
    Column("destination_sent", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("lease_until", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("settled_at", Instant),
    Column("provider_id", Text, nullable=False),
    Column("e2e_id", Text, nullable=False),
    Column("failure_code", Text),
    Column("failure_forbidden", Boolean, nullable=False),
    Column("review", Boolean, nullable=False),
    Column("next_check_at", Instant),
    Column("check_owner", Text),
    Column("check_until", Instant),
    # The bank's own deadline, while it analyses the payout before it settles.
    Column("held_until", Instant),
    # Keyed: the number itself stands in the destination alone.
    Column("payee_digest", LargeBinary),
    # Of the key as the bank named them to whoever ordered it in the panel, as JSON.
    Column("key_owner", Text),
    # Their name, else the destination's: in small letters without accents, as searches compare it.
    Column("payee_folded", Text, nullable=False),
    # Who proved that a bank did not execute what may have been sent to it: bank or people.
    Column("absence", Text),
    # What the bank moved, where two people found that it was not what was ordered.
    Column("moved_centavos", BigInteger),
    # The bank's own name of the account that it was sent from.
    Column("provider_account", Text, nullable=False),
    # Why a payout stands out: its outcome is unresolved, the bank moved another amount, or the code
    # of its failure. NULL for all that are under way or paid as ordered.
    Column(
        "exception",
        Text,
        Computed(
            "CASE WHEN state = 'unknown' OR review THEN 'unresolved' "
            "WHEN moved_centavos IS NOT NULL THEN 'moved' ELSE failure_code END",
            persisted=True,
        ),
    ),
    # One key for two references would show one payout's fate for the other. The key comes first:
    # banks name a payout by it without its account.
    UniqueConstraint("provider_key", "account_id"),
    Index("ix_payouts_account_id_created_at", "account_id", "created_at"),
    # Lists across accounts, all and by method; new payouts are appended at their end.
    Index("ix_payouts_created_at", "created_at"),
    Index("ix_payouts_method_created_at", "method", "created_at"),
    # Lists of one credential or user, who may have made few payouts or none.
    Index("ix_payouts_client_id_created_at", "client_id", "created_at"),
    # Few payouts are in it: an order that is made and settles is not.
    Index(
        "ix_payouts_exception_created_at",
        *("exception", "created_at"),
        sqlite_where=text("exception IS NOT NULL"),
    ),
    # Who pays the same amount again is asked for at every payout.
    Index("ix_payouts_account_id_centavos_created_at", "account_id", "centavos", "created_at"),
    # A reference may be too long for an index of PostgreSQL; those are found by their account.
    Index("ix_payouts_reference", "reference", sqlite_where=text("length(reference) <= 200")),
    Index(
        "ix_payouts_payee_digest_created_at",
        "payee_digest",
        "created_at",
        sqlite_where=text("payee_digest IS NOT NULL"),
    ),
)

# An index of ``payouts.next_check_at`` that is a table, kept by triggers: a row for each payout
# that has one. The payout's own column decides.
planned_checks = Table(
    "payout_checks",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("reference_sha256", LargeBinary, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("next_check_at", Instant, nullable=False),
    Index("ix_payout_checks_next_check_at", "next_check_at"),
    # Who has payouts to follow up at a bank, and of each account those due longest: one with very
    # many is passed over in a step.
    Index(
        "ix_payout_checks_provider_account_id_next_check_at",
        *("provider", "account_id", "next_check_at"),
    ),
)

PLANNED = select(planned_checks.c.account_id, planned_checks.c.reference_sha256)
"""The keys of payouts that are planned to be checked; of all that have no end but for reviews."""

# An index of ``payouts.e2e_id`` and ``provider_id``, kept likewise. Names are only ever added, so
# the payout's own columns decide here too.
bank_names = Table(
    "payout_names",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("provider_key", Text, primary_key=True),
)

# An index of the payouts that people ordered, by themselves or in files, kept likewise. Those of
# partners' programs are not in it, and what it says of a payout never changes.
payouts_by_people = Table(
    "payouts_by_people",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("created_at", Instant, primary_key=True),
    Column("reference_sha256", LargeBinary, primary_key=True),
)

attempts = Table(
    "payout_attempts",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("reference_sha256", LargeBinary, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("send_deadline", Instant, nullable=False),
    Column("lease_until", Instant, nullable=False),
    Column("trace_id", Text, nullable=False, index=True),
    Column("outcome", Text),
    Column("evidence", Text),
    Column("ended_at", Instant),
    Column("last_probe_at", Instant),
    Column("next_probe_at", Instant),
    ForeignKeyConstraint(
        ["account_id", "reference_sha256"], ["payouts.account_id", "payouts.reference_sha256"]
    ),
    # Hardly any payout is sent again; the others are not written in it.
    Index("ix_payout_attempts_started_at", "started_at", sqlite_where=text("number > 1")),
)

SENT_AGAIN = text("payout_attempts.number > 1")
"""Not the first attempt of its payout; a text, as it stands in the index (see ``UNRESOLVED``)."""

# What happened to payouts, only ever added: a row of each try's and each step's own transaction.
# Without a foreign key: its check would cost every payout a look that the attempt's has just done.
payout_events = Table(
    "payout_events",
    METADATA,
    # SQLite counts by itself in a column of this very type alone.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("account_id", Text, nullable=False),
    Column("reference_sha256", LargeBinary, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("after", Text),
    # What was said, sealed; empty where nothing was, or nobody had the key.
    Column("sealed_facts", LargeBinary),
    Index("ix_payout_events_account_id_reference_sha256", "account_id", "reference_sha256"),
)

# What partners are told of an account: ids alone. The end of a payout is written by a trigger, in
# the statement that ends it.
events = Table(
    "events",
    METADATA,
    # SQLite counts by itself in a column of this very type alone.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", Text, nullable=False),
    Column("account_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("at", Instant, nullable=False),
    # The ids of what it is about, as far as its type has them.
    *(Column(name, Text) for name in ("reference", "e2e_id", "return_id", "client_id")),
    # In the account's feed: given to committed events when the feed is read, so that none ever
    # appears in front of one that was read.
    Column("position", BigInteger),
    # PostgreSQL's key begins with it.
    Index("ix_events_at", "at").ddl_if(dialect="sqlite"),
    Index("ix_events_account_id_position", "account_id", "position"),
)

# The last position of each feed that was ever read; locked by whoever gives the next ones.
event_feeds = Table(
    "event_feeds",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("last", BigInteger, nullable=False),
)

# When the feed of an account was first and last read, until when payments were looked for at its
# bank, and when that was last tried.
payment_walks = Table(
    "payment_walks",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("begun_at", Instant, nullable=False),
    Column("read_at", Instant),
    Column("until", Instant, nullable=False),
    Column("tried_at", Instant),
)

# Where events are delivered to partners.
endpoints = Table(
    "endpoints",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("company_id", Text, ForeignKey("companies.id"), nullable=False, index=True),
    Column("url", Text, nullable=False),
    # Which types of events, of which accounts; empty for all of them.
    Column("types", Words, nullable=False),
    Column("account_ids", Words, nullable=False),
    Column("state", Text, nullable=False),
    Column("paused_because", Text, nullable=False),
    Column("sealed_secret", LargeBinary, nullable=False),
    Column("secret_made_at", Instant, nullable=False),
    # The one before, which signs beside it until then.
    Column("sealed_former_secret", LargeBinary),
    Column("former_secret_ends_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("last_ok_at", Instant),
    Column("failing_since", Instant),
    Column("mailed_h", Integer, nullable=False),
)

# Events on their way to endpoints: a row of each for every endpoint that wants it, written by a
# trigger with the event, and pings. Without foreign keys: it outlives its endpoint.
deliveries = Table(
    "deliveries",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("endpoint_id", Text, nullable=False),
    Column("company_id", Text, nullable=False),
    Column("is_ping", Boolean, nullable=False),
    # The event, whose row in the feed may be gone.
    Column("event_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("at", Instant, nullable=False),
    *(
        Column(name, Text)
        for name in ("account_id", "reference", "e2e_id", "return_id", "client_id")
    ),
    # What is sent at each try; written before the first.
    Column("body", LargeBinary),
    Column("state", Text, nullable=False),
    # Of all tries, those before it was last sent again by hand do not count.
    Column("tries", Integer, nullable=False),
    Column("tries_before", Integer, nullable=False),
    Column("next_at", Instant),
    Column("claimed_by", Text),
    Column("claimed_until", Instant),
    Column("ended_at", Instant),
    UniqueConstraint("event_id", "endpoint_id"),
    Index(
        "ix_deliveries_account_id_reference",
        "account_id",
        "reference",
        sqlite_where=text("length(reference) <= 200"),
        postgresql_where=text("length(reference) <= 200"),
    ),
    Index("ix_deliveries_at", "at"),
    Index("ix_deliveries_company_id_at", "company_id", "at"),
    Index("ix_deliveries_endpoint_id_at", "endpoint_id", "at"),
    Index(
        "ix_deliveries_endpoint_id_claimed_until",
        "endpoint_id",
        "claimed_until",
        sqlite_where=text("claimed_until IS NOT NULL"),
        postgresql_where=text("claimed_until IS NOT NULL"),
    ),
    Index(
        "ix_deliveries_endpoint_id_is_ping_next_at",
        "endpoint_id",
        "is_ping",
        "next_at",
        sqlite_where=text("state = 'waiting'"),
        postgresql_where=text("state = 'waiting'"),
    ),
)

# Each time that a delivery was sent, and what came of it.
delivery_tries = Table(
    "delivery_tries",
    METADATA,
    Column("delivery_id", Text, ForeignKey("deliveries.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    # Of the answer; without one, or where it counts for none, ``failure`` says why.
    Column("status", Integer),
    Column("failure", Text, nullable=False),
    Column("ms", Integer, nullable=False),
)

# What came back of settled payouts, each once by its own id.
returns = Table(
    "payout_returns",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("reference_sha256", LargeBinary, primary_key=True),
    Column("id", Text, primary_key=True),
    Column(
        "centavos", BigInteger, CheckConstraint("centavos > 0", name="above_zero"), nullable=False
    ),
    Column("at", Instant, nullable=False),
    Index("ix_payout_returns_id", "id"),
    Index("ix_payout_returns_centavos", "centavos"),
    ForeignKeyConstraint(
        ["account_id", "reference_sha256"], ["payouts.account_id", "payouts.reference_sha256"]
    ),
)

# Payouts that ``pixgate payouts archive`` has written to files and deleted: what repetitions of
# their references and reads are answered from. The full tax number and key, tries and evidence are
# in the file alone. Nothing but the move of a company changes or deletes a row.
archived_payouts = Table(
    "archived_payouts",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("reference_sha256", LargeBinary, primary_key=True),
    # As in ``payouts``; the destination as sent, with a person's tax number and key masked.
    *(
        Column(name, payouts.c[name].type, nullable=payouts.c[name].nullable)
        for name in (
            *("reference", "fingerprint", "provider_key", "provider", "client_id", "method"),
            *("centavos", "date", "description", "destination_sent", "state", "attempt"),
            *("created_at", "updated_at", "settled_at", "e2e_id", "failure_code"),
            *("failure_forbidden", "key_owner", "absence", "moved_centavos"),
        )
    ),
    # Lists of an account.
    Index("ix_archived_payouts_account_id_created_at", "account_id", "created_at"),
)

# Each file of archived payouts: those that an account created in a month. The number counts the
# files of one month, whose last payouts may end long after the others.
archive_files = Table(
    "archive_files",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    # Its first day.
    Column("month", Date, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("sha256", Text, nullable=False),
    Column("payouts", Integer, nullable=False),
    Column("centavos", BigInteger, nullable=False),
    # When the file was compared with the database; nothing was deleted before.
    Column("proven_at", Instant, nullable=False),
    # When its last payout had left the database; absent while payouts may be left.
    Column("emptied_at", Instant),
)

# Charges that were ordered through us; the digest first, so that a reference alone finds them.
charges = Table(
    "charges",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("reference_sha256", LargeBinary, nullable=False),
    Column("reference", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("reusable", Boolean, nullable=False),
    Column("centavos", BigInteger, CheckConstraint("centavos > 0", name="above_zero")),
    Column("state", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("updated_at", Instant, nullable=False),
    Column("paid_at", Instant),
    # Of that payment: an open charge asks for no amount.
    Column("paid_centavos", BigInteger),
    Column("e2e_id", Text, nullable=False),
    Column("payer_name", Text, nullable=False),
    Column("description", Text, nullable=False),
    # Until then one process may make it at its bank.
    Column("made_until", Instant),
    UniqueConstraint("reference_sha256", "account_id"),
    Index("ix_charges_created_at_id", "created_at", "id"),
    Index("ix_charges_account_id_created_at_id", "account_id", "created_at", "id"),
    Index("ix_charges_centavos_created_at", "centavos", "created_at"),
    Index(
        "ix_charges_paid_centavos_created_at",
        *("paid_centavos", "created_at"),
        sqlite_where=text("paid_centavos IS NOT NULL"),
    ),
    Index("ix_charges_e2e_id", "e2e_id"),
)

# Payments that came in and pay a charge, each once, however often and wherever it was seen.
received = Table(
    "received",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("e2e_id", Text, primary_key=True),
    Column("reference", Text, nullable=False),
    # By the bank's clock.
    Column("paid_at", Instant, nullable=False),
)

# Refunds that moved money, each once by the central bank's id of the way back.
refunded = Table(
    "refunded",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("return_id", Text, primary_key=True),
)

stops = Table(
    "payout_stops",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False),
    Column("lifted_at", Instant),
    Column("lifted_by", Text, nullable=False, default=""),
)


# Days of accounts that somebody has signed; amounts are centavos, negative ones among them.
day_closings = Table(
    "day_closings",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("day", Date, primary_key=True),
    *(
        Column(name, BigInteger, nullable=False)
        for name in ("opening", "credits", "debits", "fees", "returns", "closing", "paid")
    ),
    Column("differences", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    # A digest of the bank's movements alone.
    Column("movements", Text, nullable=False),
    Column("signed_by", Text, nullable=False),
    Column("signed_at", Instant, nullable=False),
    Column("locked_by", Text, nullable=False),
    Column("locked_at", Instant),
)

# What the last reading of a day found. The figures are absent until the bank has answered.
day_readings = Table(
    "day_readings",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("day", Date, primary_key=True),
    *(
        Column(name, BigInteger)
        for name in ("opening", "credits", "debits", "fees", "returns", "closing", "paid")
    ),
    # The opening balance less the closing balance of the day before.
    Column("gap", BigInteger, nullable=False),
    # Lines that differ: not explained, and all.
    Column("differences", Integer, nullable=False),
    Column("differing", Integer, nullable=False),
    # The first of the lines that differ, as JSON.
    Column("lines", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("movements", Text, nullable=False),
    Column("read_at", Instant),
    Column("tried_at", Instant, nullable=False),
    # Why the last try found nothing; empty where it did.
    Column("problem", Text, nullable=False),
    # When it is read again; absent where that is not needed.
    Column("next_at", Instant, index=True),
    Index("ix_day_readings_day", "day"),
)

# Debits of accounts that no payout of ours, refund or fee explained when the bank was asked.
foreign_debits = Table(
    "foreign_debits",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    # What the bank calls the movement, or a digest of it.
    Column("line_id", Text, primary_key=True),
    Column("day", Date, nullable=False),
    Column("at", Instant, nullable=False),
    Column("centavos", BigInteger, nullable=False),
    *(
        Column(name, Text, nullable=False)
        for name in ("name", "description", "e2e_id", "provider_key")
    ),
    Column("found_at", Instant, nullable=False),
    Column("settled_at", Instant),
    Column("settled_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("ix_foreign_debits_account_id", "account_id", sqlite_where=text("settled_at IS NULL")),
)

# Until when the debits of an account were read.
debit_readings = Table(
    "debit_readings",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("until", Instant, nullable=False),
)

# One of each person: of the review of an attempt in a state. One of attempt 0, and without a state,
# was withdrawn.
opinions = Table(
    "payout_opinions",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("reference_sha256", LargeBinary, primary_key=True),
    Column("by", Text, primary_key=True),
    Column("verdict", Text, nullable=False),
    # What moved, as the person found.
    Column("centavos", BigInteger),
    Column("reason", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", Text),
    ForeignKeyConstraint(
        ["account_id", "reference_sha256"], ["payouts.account_id", "payouts.reference_sha256"]
    ),
)

audit = Table(
    "audit",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("trace_id", Text, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("companies", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    # People limited to companies read their own part, newest first.
    Index("ix_audit_companies_number", "companies", "number"),
    Index("ix_audit_trace_id", "trace_id"),
)

# The chain's end: locked by whoever appends, and proof that nothing was cut off.
audit_head = Table(
    "audit_head",
    METADATA,
    Column(
        "one",
        Integer,
        CheckConstraint("one = 1", name="one"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("number", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("seal", LargeBinary, nullable=False),
)
