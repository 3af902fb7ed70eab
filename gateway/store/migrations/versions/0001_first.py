"""
The first schema: every table, stated here and not imported, because ``tables`` keeps changing.

Names of indexes and constraints follow from their columns' names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None
compatible_with = "0001"
branch_labels = None
depends_on = None

_NAMES: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}
_TYPES: Final[Mapping[str, TypeEngine[Any]]] = {
    "text": sa.Text(),
    "ordered": sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
    "bytes": sa.LargeBinary(),
    "number": sa.Integer(),
    "large": sa.BigInteger(),
    # SQLite counts by itself in a column of this very type alone.
    "counted": sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
    "flag": sa.Boolean(),
    "date": sa.Date(),
    "time": sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql"),
    "exception": sa.Text(),
}
_COMPUTED: Final = {
    "exception": (
        "CASE WHEN state = 'unknown' OR review THEN 'unresolved' "
        "WHEN moved_centavos IS NOT NULL THEN 'moved' ELSE failure_code END"
    )
}
"""Columns that the database itself writes, by their kind."""
_PAYOUT: Final = "account_id reference_sha256"
# Calls are counted by how long they took, in so many steps.
_TOOK: Final = " ".join(f"took_{step}" for step in range(20))


class _Table(NamedTuple):
    """
    A table; lists of names have blanks between them.

    Attributes:
        columns: Types with the names of their columns; ``?`` is for a type that may be NULL.
        key: The primary key; by default the first column.
        of: Foreign keys: our columns, and the other table with the columns there if not ``id``.
        unique: Columns of which no two rows have the same; several such lists have a ``;``.
        check: The name of a condition, and the condition.
        indexes: Columns of each index, with the condition of a partial one.
        by_time: Rows are counted, and lie in partitions by ``at`` on PostgreSQL.
    """

    name: str
    columns: str
    key: str = ""
    of: Mapping[str, str] = MappingProxyType({})
    unique: str = ""
    check: tuple[str, str] | None = None
    indexes: Sequence[str] = ()
    by_time: bool = False


_TABLES: Final = (
    _Table(
        "store_stamp",
        "number one; text environment id; time created_at; text compatible_with",
        check=("one", "one = 1"),
    ),
    _Table("task_leases", "text task owner; time ends_at"),
    _Table("processes", "text id name keys; time ends_at"),
    _Table(
        "audit",
        "large number; time at; text actor action subject details trace_id; bytes hash; "
        "text companies key_id",
        indexes=("companies number", "trace_id"),
    ),
    _Table(
        "audit_head",
        "number one; large number; bytes hash; text key_id; bytes seal",
        check=("one", "one = 1"),
    ),
    _Table("companies", "text id name; time created_at; text contact"),
    _Table(
        "company_moves",
        "text company_id source target state digest; time began_at; time? ended_at",
    ),
    _Table(
        "accounts",
        "text id company_id name tax_number; flag active verified; text provider provider_account; "
        "bytes sealed_credentials; time? certificate_ends_at; "
        "text bank_number ispb branch account; time created_at",
        of={"company_id": "companies"},
        indexes=("company_id", "provider provider_account"),
    ),
    _Table(
        "credentials",
        "text client_id company_id; text? account_id; text name permissions; time created_at; "
        "time? expires_at revoked_at; large? limit_payout limit_day "
        "limit_payout_at_night limit_night; text? callers public_keys; time? rules_changed_at",
        of={"account_id": "accounts", "company_id": "companies"},
        indexes=("company_id",),
    ),
    _Table(
        "credential_secrets",
        "text client_id; number position; text key_id; bytes digest; time created_at; "
        "time? expires_at last_used_at; text ordered_by approved_by",
        key="client_id position",
        of={"client_id": "credentials client_id"},
        check=("two", "position IN (0, 1)"),
    ),
    _Table(
        "credential_addresses",
        "text client_id address; time first_used_at last_used_at; time? refused_at",
        key="client_id address",
        of={"client_id": "credentials client_id"},
    ),
    _Table(
        "expiry_notices",
        "text client_id; time ends_at; number days",
        key="client_id ends_at days",
        of={"client_id": "credentials client_id"},
    ),
    _Table(
        "sandbox_accounts",
        "text account_id network; time opened_at ends_at",
        indexes=("ends_at", "network"),
    ),
    _Table(
        "payouts",
        "text account_id; bytes reference_sha256; ordered reference; "
        "text fingerprint provider_key provider client_id method; large centavos; date date; "
        "text description destination destination_sent state; number attempt; "
        "time lease_until created_at updated_at; time? settled_at; text provider_id e2e_id; "
        "text? failure_code; flag failure_forbidden review; time? next_check_at; "
        "text? check_owner; time? check_until held_until; bytes? payee_digest; text? key_owner; "
        "text payee_folded; text? absence; large? moved_centavos; text provider_account; "
        "exception? exception",
        key=_PAYOUT,
        of={"account_id": "accounts"},
        unique="provider_key account_id",
        check=("above_zero", "centavos > 0"),
        indexes=(
            "account_id centavos created_at",
            "account_id created_at",
            "client_id created_at",
            "created_at",
            "exception created_at WHERE exception IS NOT NULL",
            "method created_at",
            "payee_digest created_at WHERE payee_digest IS NOT NULL",
            "reference WHERE length(reference) <= 200",
        ),
    ),
    _Table(
        "payout_checks",
        "text account_id; bytes reference_sha256; text provider; time next_check_at",
        key=_PAYOUT,
        indexes=("next_check_at", "provider account_id next_check_at"),
    ),
    _Table(
        "payout_names",
        "text name provider_key",
        key="name provider_key",
    ),
    _Table(
        "payouts_by_people",
        "text account_id; time created_at; bytes reference_sha256",
        key="account_id created_at reference_sha256",
    ),
    _Table(
        "payout_attempts",
        "text account_id; bytes reference_sha256; number number; text provider; "
        "time started_at send_deadline lease_until; text trace_id; text? outcome evidence; "
        "time? ended_at last_probe_at next_probe_at",
        key=f"{_PAYOUT} number",
        of={_PAYOUT: f"payouts {_PAYOUT}"},
        indexes=("started_at WHERE number > 1", "trace_id"),
    ),
    _Table(
        "payout_events",
        "counted number; text account_id; bytes reference_sha256; number attempt; text kind; "
        "time at; text? after; bytes? sealed_facts",
        indexes=(_PAYOUT,),
        by_time=True,
    ),
    _Table(
        "events",
        "counted number; text id account_id type; time at; "
        "text? reference e2e_id return_id client_id; large? position",
        indexes=("account_id position",),
        by_time=True,
    ),
    _Table(
        "event_feeds",
        "text account_id; large last",
        of={"account_id": "accounts"},
    ),
    _Table(
        "payment_walks",
        "text account_id; time begun_at; time? read_at; time until; time? tried_at",
        of={"account_id": "accounts"},
    ),
    _Table(
        "endpoints",
        "text id company_id url types account_ids state paused_because; bytes sealed_secret; "
        "time secret_made_at; bytes? sealed_former_secret; time? former_secret_ends_at; "
        "time created_at; text created_by; time changed_at; text changed_by; "
        "time? last_ok_at failing_since; "
        "number mailed_h",
        of={"company_id": "companies"},
        indexes=("company_id",),
    ),
    _Table(
        "deliveries",
        "text id endpoint_id company_id; flag is_ping; text event_id type; time at; "
        "text? account_id reference e2e_id return_id client_id; bytes? body; text state; "
        "number tries tries_before; time? next_at; text? claimed_by; time? claimed_until ended_at",
        unique="event_id endpoint_id",
        indexes=(
            "account_id reference WHERE length(reference) <= 200",
            "at",
            "company_id at",
            "endpoint_id at",
            "endpoint_id claimed_until WHERE claimed_until IS NOT NULL",
            "endpoint_id is_ping next_at WHERE state = 'waiting'",
        ),
    ),
    _Table(
        "delivery_tries",
        "text delivery_id; number number; time at; number? status; text failure; number ms",
        key="delivery_id number",
        of={"delivery_id": "deliveries"},
    ),
    _Table(
        "payout_returns",
        "text account_id; bytes reference_sha256; text id; large centavos; time at",
        key=f"{_PAYOUT} id",
        of={_PAYOUT: f"payouts {_PAYOUT}"},
        check=("above_zero", "centavos > 0"),
        indexes=("centavos", "id"),
    ),
    _Table(
        "payout_opinions",
        "text account_id; bytes reference_sha256; text by verdict; large? centavos; text reason; "
        "time at; number attempt; text? state",
        key=f"{_PAYOUT} by",
        of={_PAYOUT: f"payouts {_PAYOUT}"},
    ),
    _Table(
        "archived_payouts",
        "text account_id; bytes reference_sha256; ordered reference; "
        "text fingerprint provider_key provider client_id method; large centavos; date date; "
        "text description destination_sent state; number attempt; "
        "time created_at updated_at; time? settled_at; text e2e_id; text? failure_code; "
        "flag failure_forbidden; text? key_owner absence; large? moved_centavos",
        key=_PAYOUT,
        of={"account_id": "accounts"},
        indexes=("account_id created_at",),
    ),
    _Table(
        "archive_files",
        "text account_id; date month; number number; text sha256; number payouts; "
        "large centavos; time proven_at; time? emptied_at",
        key="account_id month number",
        of={"account_id": "accounts"},
    ),
    _Table(
        "payout_stops",
        "text id scope subject reason created_by; time created_at ends_at; time? lifted_at; "
        "text lifted_by",
    ),
    _Table(
        "day_closings",
        "text account_id; date day; large opening credits debits fees returns closing paid; "
        "number differences; text digest movements signed_by; time signed_at; text locked_by; "
        "time? locked_at",
        key="account_id day",
        of={"account_id": "accounts"},
    ),
    _Table(
        "day_readings",
        "text account_id; date day; large? opening credits debits fees returns closing paid; "
        "large gap; number differences differing; text lines digest movements; time? read_at; "
        "time tried_at; text problem; time? next_at",
        key="account_id day",
        of={"account_id": "accounts"},
        indexes=("day", "next_at"),
    ),
    _Table(
        "foreign_debits",
        "text account_id line_id; date day; time at; large centavos; "
        "text name description e2e_id provider_key; time found_at; time? settled_at; "
        "text settled_by reason",
        key="account_id line_id",
        of={"account_id": "accounts"},
        indexes=("account_id WHERE settled_at IS NULL",),
    ),
    _Table(
        "debit_readings",
        "text account_id; time until",
        of={"account_id": "accounts"},
    ),
    _Table("closed_hours", "time hour"),
    _Table(
        "payout_hours",
        "time hour; text company_id state certainty; number settled_within; "
        "large payouts centavos moved_centavos",
        key="hour company_id state certainty settled_within",
    ),
    _Table(
        "users",
        "text id email name password roles companies; flag active; bytes? totp_secret; "
        "time? totp_confirmed_at; large totp_step; flag factor_reset; time? access_changed_at; "
        "time created_at updated_at; text? language theme; flag? single_keys; "
        "text? issuer subject",
        unique="email; issuer subject",
    ),
    _Table(
        "identity_providers",
        "text company_id short_name domains issuer client_id; bytes sealed_secret; "
        "text scopes claim mapping factor_acr factor_amr break_glass; time changed_at; "
        "text changed_by",
        of={"company_id": "companies"},
        unique="short_name",
    ),
    _Table(
        "recovery_codes",
        "text user_id; number index; text digest; time? used_at",
        key="user_id index",
        of={"user_id": "users"},
    ),
    _Table(
        "passkeys",
        "text id user_id name credential_id; bytes credential; large sign_count; "
        "time created_at; time? used_at",
        of={"user_id": "users"},
        unique="credential_id",
        indexes=("user_id",),
    ),
    _Table(
        "sessions",
        "text id user_id; time created_at ends_at seen_at; time? factor_at; "
        "text address user_agent; flag panel; text networks issuer_company issuer_sid; "
        "time? ended_at; text ended_by",
        of={"user_id": "users"},
        indexes=("ended_at", "ends_at", "issuer_sid", "user_id"),
    ),
    _Table(
        "refresh_tokens",
        "bytes digest; text session_id; number number; time created_at ends_at; time? used_at",
        of={"session_id": "sessions"},
        indexes=("session_id",),
    ),
    _Table(
        "mfa_challenges",
        "bytes digest; text user_id; time created_at ends_at; number tries; time? used_at; "
        "text bound_to issuer_company issuer_sid",
        of={"user_id": "users"},
        indexes=("ends_at",),
    ),
    _Table(
        "mail_tokens",
        "bytes digest; text purpose user_id; time created_at ends_at; time? used_at",
        of={"user_id": "users"},
        indexes=("ends_at", "user_id"),
    ),
    _Table(
        "panel_sessions",
        "text id_hash state csrf; time created_at seen_at ends_at; text session_id user_id; "
        "bytes sealed; time? access_ends_at; number version; time? lease_until; "
        "flag delivered; time? proven_at; text address user_agent",
        indexes=("ends_at", "seen_at", "user_id"),
    ),
    _Table(
        "signing_keys",
        "text id; bytes public sealed_private; time created_at signs_from; time? retired_at",
    ),
    _Table(
        "failure_counts",
        "text key; number count; time since; time? blocked_until; number blocks",
        indexes=("since",),
    ),
    _Table(
        "mailbox",
        "text id to subject text; time created_at; time? sent_at",
        indexes=("created_at",),
    ),
    _Table(
        "notification_choices",
        "text user_id at_once digest push quiet_from quiet_until",
        of={"user_id": "users"},
    ),
    _Table(
        "chats",
        "text id; text? company_id; text name format host; bytes sealed_url; text kinds language; "
        "time created_at; text created_by; time? last_ok_at failing_since",
        of={"company_id": "companies"},
        indexes=("company_id",),
    ),
    _Table(
        "notifications",
        "text id recipient kind subject way; time created_at due_at; text state; number tries; "
        "time? claimed_until",
        unique="recipient kind subject way",
        indexes=("created_at", "way due_at WHERE state = 'waiting'"),
    ),
    _Table(
        "push_subscriptions",
        "text id user_id; bytes endpoint_digest sealed_address; text browser; time created_at; "
        "time? last_ok_at",
        of={"user_id": "users"},
        unique="endpoint_digest",
        indexes=("user_id",),
    ),
    _Table(
        "bank_outages",
        "text provider; time since; time? until",
        key="provider since",
    ),
    _Table(
        "approvals",
        "text id kind; text? account_id company_id; text subject; bytes reference_sha256; "
        "text reference; large? centavos; bytes sealed_order; text ordered_by orderer; "
        "time ordered_at ends_at; text state decided_by decider; time? decided_at; "
        "text reason outcome outcome_code; time? collected_at",
        of={"account_id": "accounts", "company_id": "companies"},
        check=("above_zero", "centavos > 0"),
        indexes=("account_id reference_sha256", "ordered_at", "subject"),
    ),
    _Table(
        "payout_batches",
        "text id account_id company_id name; bytes file_sha256; text state; number payouts; "
        "large centavos; text made_by maker; time made_at; date? day; time? began_at; "
        "text held_for resumed_by; time? ended_at",
        of={"account_id": "accounts", "company_id": "companies"},
        indexes=(
            "account_id file_sha256",
            "made_at",
            "state WHERE state IN ('running', 'held', 'ordered')",
        ),
    ),
    _Table(
        "payout_batch_rows",
        "text batch_id; number number; text account_id; bytes reference_sha256; text reference; "
        "large centavos; bytes sealed_order; text odd state code; number tries; time? began_at",
        key="batch_id number",
        of={"account_id": "accounts", "batch_id": "payout_batches"},
        indexes=("account_id reference_sha256", "began_at WHERE state = 'ordering'"),
    ),
    _Table(
        "payout_batch_problems",
        "text batch_id; number number; text field reason",
        key="batch_id number",
        of={"batch_id": "payout_batches"},
    ),
    _Table(
        "callbacks",
        "text id provider event kind subject; time received_at; bytes body; text state; "
        "number tries; time? due_at handled_at; text company_id account named_by provider_id",
        unique="provider event",
        indexes=("company_id received_at", "due_at", "received_at"),
    ),
    _Table(
        "request_log",
        "counted number; time at; text trace_id surface route; number status; "
        "text code client_id user_id company_id line method account_id reason; large duration_us",
        indexes=(
            "account_id at WHERE account_id <> ''",
            "client_id at WHERE client_id <> ''",
            "code at WHERE code <> ''",
            "company_id at WHERE company_id <> ''",
            "trace_id",
        ),
        by_time=True,
    ),
    _Table(
        "charges",
        "text id account_id; bytes reference_sha256; text reference provider type; flag reusable; "
        "large? centavos; text state; time created_at; time? expires_at; time updated_at; "
        "time? paid_at; large? paid_centavos; text e2e_id payer_name description; "
        "time? made_until",
        of={"account_id": "accounts"},
        unique="reference_sha256 account_id",
        check=("above_zero", "centavos > 0"),
        indexes=(
            "account_id created_at id",
            "centavos created_at",
            "created_at id",
            "e2e_id",
            "paid_centavos created_at WHERE paid_centavos IS NOT NULL",
        ),
    ),
    _Table(
        "received",
        "text account_id e2e_id reference; time paid_at",
        key="account_id e2e_id",
        of={"account_id": "accounts"},
    ),
    _Table(
        "refunded",
        "text account_id return_id",
        key="account_id return_id",
        of={"account_id": "accounts"},
    ),
    _Table(
        "provider_minutes",
        "text provider operation; large minute; text worker; number calls ok; "
        f"text last_failure; number {_TOOK}",
        key="provider operation minute worker",
        indexes=("minute",),
    ),
    _Table(
        "outflow_hours",
        "text scope subject; time hour; large payouts centavos new_payouts new_centavos "
        "peak_payouts peak_centavos peak_new_payouts peak_new_centavos; text amounts",
        key="scope subject hour",
        indexes=("hour",),
    ),
    _Table(
        "outflow_payees",
        "text company_id; bytes payee; time first_at last_at",
        key="company_id payee",
        of={"company_id": "companies"},
        indexes=("last_at",),
    ),
    _Table("outflow_progress", "number one; time until", check=("one", "one = 1")),
    _Table(
        "outflow_trips",
        "text id company_id scope subject measure; number window_s; large value bound above; "
        "time at seen_at; text? stop_id",
        of={"company_id": "companies"},
        indexes=("at",),
    ),
    _Table(
        "account_readings",
        "text account_id; large? balance blocked; time? read_at asked_at",
        of={"account_id": "accounts"},
    ),
)


def upgrade() -> None:
    """Make every table, the head of the audit log, and the triggers."""
    tables = _tables()
    tables.create_all(op.get_bind(), checkfirst=False)
    op.bulk_insert(
        tables.tables["audit_head"],
        [{"one": 1, "number": 0, "hash": bytes(32), "key_id": "", "seal": b""}],
    )
    for statement in _on_postgresql() if _is_postgresql() else _on_sqlite():
        op.execute(statement)


def downgrade() -> None:
    """Drop everything."""
    _tables().drop_all(op.get_bind(), checkfirst=False)
    if _is_postgresql():
        for name in _FUNCTIONS:
            op.execute(f"DROP FUNCTION {name}()")


def _is_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"


def _tables() -> sa.MetaData:
    metadata = sa.MetaData(naming_convention=_NAMES)
    for each in _TABLES:
        table = sa.Table(
            each.name,
            metadata,
            *_columns(each.columns),
            *_constraints(each),
            postgresql_partition_by="RANGE (at)" if each.by_time else None,
        )
        for index in each.indexes:
            _index(table, index)
    _index(
        metadata.tables["approvals"],
        "kind subject reference_sha256 WHERE state = 'waiting'",
        name="uq_approvals_waiting",
        unique=True,
    )
    # PostgreSQL's key begins with it.
    for name in ("request_log", "events"):
        _index(metadata.tables[name], "at").ddl_if(dialect="sqlite")
    return metadata


def _columns(columns: str) -> Iterator[sa.Column[Any]]:
    for of_type in columns.split("; "):
        name, *names = of_type.split()
        kind, null = name.removesuffix("?"), name.endswith("?")
        computed = [sa.Computed(_COMPUTED[kind], persisted=True)] if kind in _COMPUTED else []
        for each in names:
            counts = kind == "counted"
            yield sa.Column(each, _TYPES[kind], *computed, nullable=null, autoincrement=counts)


def _constraints(table: _Table) -> Iterator[sa.Constraint]:
    key = table.key or table.columns.replace(";", "").split()[1]
    if table.by_time and _is_postgresql():
        key = f"at {key}"  # a key of all partitions has what they are made by
    yield sa.PrimaryKeyConstraint(*key.split())
    for ours, other in table.of.items():
        name, *theirs = other.split()
        yield sa.ForeignKeyConstraint(ours.split(), [f"{name}.{each}" for each in theirs or ["id"]])
    for columns in filter(None, table.unique.split(";")):
        yield sa.UniqueConstraint(*columns.split())
    if table.check is not None:
        name, condition = table.check
        yield sa.CheckConstraint(condition, name=name)


def _index(
    table: sa.Table, columns: str, *, name: str | None = None, unique: bool = False
) -> sa.Index:
    names, _, condition = columns.partition(" WHERE ")
    where = sa.text(condition) if condition else None
    on = [table.c[each] for each in names.split()]
    return sa.Index(name, *on, unique=unique, sqlite_where=where, postgresql_where=where)


# What the database itself does. The audit log is only added to, and its head moves with its seal.
# Events of payouts are never changed, nor deleted while they are young.
_AUDIT: Final = "the audit log is append-only"
_HEAD: Final = "the head of the audit log moves with its seal"
_UNSEALED: Final = "NEW.seal = OLD.seal"
_EVENTS: Final = "events of payouts are append-only"
_YOUNG_DAYS: Final = 30

# Indexes of payouts that are tables: what is planned, what banks call it, and what people ordered.
# A payout's own index of a column that each step changes would have PostgreSQL write every index of
# the row again; one more index of what few payouts are costs all of them.
_PLAN: Final = (
    "INSERT INTO payout_checks (account_id, reference_sha256, provider, next_check_at) "
    "SELECT NEW.account_id, NEW.reference_sha256, NEW.provider, NEW.next_check_at "
    "WHERE NEW.next_check_at IS NOT NULL "
    "ON CONFLICT (account_id, reference_sha256) DO UPDATE "
    "SET provider = excluded.provider, next_check_at = excluded.next_check_at"
)
_UNPLAN: Final = (
    "DELETE FROM payout_checks "
    "WHERE account_id = NEW.account_id AND reference_sha256 = NEW.reference_sha256"
)
_FORGET_PLAN: Final = (
    "DELETE FROM payout_checks "
    "WHERE account_id = OLD.account_id AND reference_sha256 = OLD.reference_sha256"
)
_FORGET_NAMES: Final = (
    "DELETE FROM payout_names "
    "WHERE name IN (OLD.provider_id, OLD.e2e_id) AND provider_key = OLD.provider_key"
)
_LIST_ORDER: Final = (
    "INSERT INTO payouts_by_people (account_id, created_at, reference_sha256) "
    "VALUES (NEW.account_id, NEW.created_at, NEW.reference_sha256)"
)
_FORGET_ORDER: Final = (
    "DELETE FROM payouts_by_people WHERE account_id = OLD.account_id "
    "AND created_at = OLD.created_at AND reference_sha256 = OLD.reference_sha256"
)
_PERSON: Final = "substr({row}.client_id, 1, 5) = 'user:'"
_INDEXED: Final = ("next_check_at", "provider", "provider_id", "e2e_id")
# A payout ends once. What partners are told of it is written by whatever ends it.
_ENDS: Final = "OLD.state <> NEW.state AND NEW.state IN ('paid', 'rejected', 'failed')"


def _name(column: str) -> str:
    return (
        "INSERT INTO payout_names (name, provider_key) "
        f"SELECT NEW.{column}, NEW.provider_key WHERE NEW.{column} <> '' ON CONFLICT DO NOTHING"
    )


def _tell_end(random: str) -> str:
    """Write the event of a payout's end; ``random`` gives the 32 hexadecimal digits of its id."""
    return (
        "INSERT INTO events (id, account_id, type, at, reference) "
        f"SELECT 'evt_' || {random}, NEW.account_id, "
        "CASE NEW.state WHEN 'paid' THEN 'payout.paid' ELSE 'payout.failed' END, "
        "NEW.updated_at, NEW.reference"
    )


def _deliver(random: str) -> str:
    """Write a delivery of a new event for each endpoint that wants it; ``random`` as above."""
    return (
        "INSERT INTO deliveries (id, endpoint_id, company_id, is_ping, event_id, type, at, "  # noqa: S608 - names of ours
        "account_id, reference, e2e_id, return_id, client_id, state, tries, tries_before, next_at) "
        f"SELECT 'dlv_' || {random}, endpoints.id, endpoints.company_id, FALSE, NEW.id, NEW.type, "
        "NEW.at, NEW.account_id, NEW.reference, NEW.e2e_id, NEW.return_id, NEW.client_id, "
        "'waiting', 0, 0, NEW.at "
        "FROM accounts JOIN endpoints ON endpoints.company_id = accounts.company_id "
        "WHERE accounts.id = NEW.account_id "
        "AND (endpoints.types = '' OR ' ' || endpoints.types || ' ' LIKE '% ' || NEW.type || ' %') "
        "AND (endpoints.account_ids = '' "
        "OR ' ' || endpoints.account_ids || ' ' LIKE '% ' || NEW.account_id || ' %')"
    )


def _on_sqlite() -> Iterator[str]:
    """Give the triggers: one for each act; instants are microseconds."""
    random = "lower(hex(randomblob(16)))"
    young = f"(CAST(strftime('%s', 'now') AS INTEGER) - {_YOUNG_DAYS * 86_400}) * 1000000"
    for name, on, problem in (
        ("audit_no_update", "UPDATE ON audit", _AUDIT),
        ("audit_no_delete", "DELETE ON audit", _AUDIT),
        ("audit_head_sealed", f"UPDATE ON audit_head WHEN {_UNSEALED}", _HEAD),
        ("payout_events_append_only", "UPDATE ON payout_events", _EVENTS),
        ("payout_events_young", f"DELETE ON payout_events WHEN OLD.at > {young}", _EVENTS),
    ):
        yield f"CREATE TRIGGER {name} BEFORE {on} BEGIN SELECT RAISE(ABORT, '{problem}'); END"
    names = [_name("provider_id"), _name("e2e_id")]
    unplan = f"{_UNPLAN} AND NEW.next_check_at IS NULL"
    for act, on, steps in (
        ("insert", "INSERT", [_PLAN, *names]),
        ("update", f"UPDATE OF {', '.join(_INDEXED)}", [_PLAN, unplan, *names]),
        ("delete", "DELETE", [_FORGET_PLAN, _FORGET_NAMES]),
    ):
        body = "; ".join(steps)
        yield f"CREATE TRIGGER payouts_indexed_{act} AFTER {on} ON payouts BEGIN {body}; END"
    for act, row, step in (("INSERT", "NEW", _LIST_ORDER), ("DELETE", "OLD", _FORGET_ORDER)):
        yield (
            f"CREATE TRIGGER payouts_of_people_{act.lower()} AFTER {act} ON payouts "
            f"WHEN {_PERSON.format(row=row)} BEGIN {step}; END"
        )
    yield (
        f"CREATE TRIGGER payouts_told AFTER UPDATE OF state ON payouts WHEN {_ENDS} "
        f"BEGIN {_tell_end(random)}; END"
    )
    yield f"CREATE TRIGGER events_delivered AFTER INSERT ON events BEGIN {_deliver(random)}; END"


_RANDOM: Final = "replace(CAST(gen_random_uuid() AS text), '-', '')"
_FUNCTIONS: Final = {
    "refuse_audit_change": f"RAISE EXCEPTION '{_AUDIT}';",
    "refuse_unsealed_head": f"RAISE EXCEPTION '{_HEAD}';",
    "refuse_payout_event_change": (
        f"IF TG_OP = 'DELETE' THEN IF OLD.at <= now() - interval '{_YOUNG_DAYS} days' "
        f"THEN RETURN OLD; END IF; END IF; RAISE EXCEPTION '{_EVENTS}';"
    ),
    # Each statement that is not run saves some microseconds of every step.
    "index_payout": (
        "IF TG_OP = 'INSERT' OR OLD.next_check_at IS DISTINCT FROM NEW.next_check_at "
        "OR OLD.provider <> NEW.provider THEN "
        f"IF NEW.next_check_at IS NULL THEN {_UNPLAN}; ELSE {_PLAN}; END IF; END IF; "
        + "".join(
            f"IF NEW.{each} <> '' THEN IF TG_OP = 'INSERT' OR OLD.{each} <> NEW.{each} "
            f"THEN {_name(each)}; END IF; END IF; "
            for each in ("provider_id", "e2e_id")
        )
        + "RETURN NULL;"
    ),
    "forget_payout": f"{_FORGET_PLAN}; {_FORGET_NAMES}; RETURN NULL;",
    "index_order_of_person": (
        f"IF TG_OP = 'INSERT' THEN {_LIST_ORDER}; ELSE {_FORGET_ORDER}; END IF; RETURN NULL;"
    ),
    "tell_end_of_payout": f"{_tell_end(_RANDOM)}; RETURN NULL;",
    "deliver_event": f"{_deliver(_RANDOM)}; RETURN NULL;",
}
_PAGE_SHARE: Final = 50
"""
How full, in percent, PostgreSQL fills a page of payouts and of their attempts with new rows.

The rest is for the next version of each: payouts of one moment lie on one page and are all changed
before the old versions can go. Then no step writes an index.
"""


def _on_postgresql() -> Iterator[str]:
    """Give a partition for rows that no other one is for, and the triggers with their functions."""
    for table in ("request_log", "payout_events", "events"):
        yield f"CREATE TABLE {table}_default PARTITION OF {table} DEFAULT"
    for name, body in _FUNCTIONS.items():
        done = f"LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
        yield f"CREATE FUNCTION {name}() RETURNS trigger {done}"
    for table in ("payouts", "payout_attempts"):
        yield f"ALTER TABLE {table} SET (fillfactor = {_PAGE_SHARE})"
    audit, head, event, indexing, forgetting, listing, telling, delivering = _FUNCTIONS
    by_person = {row: _PERSON.format(row=row) for row in ("NEW", "OLD")}
    changed = " OR ".join(f"OLD.{each} IS DISTINCT FROM NEW.{each}" for each in _INDEXED)
    for name, on, function in (
        ("audit_append_only", "BEFORE UPDATE OR DELETE OR TRUNCATE ON audit", audit),
        ("audit_head_sealed", f"BEFORE UPDATE ON audit_head FOR EACH ROW WHEN ({_UNSEALED})", head),
        ("payout_events_kept", "BEFORE TRUNCATE ON payout_events", event),
        (
            "payout_events_append_only",
            "BEFORE UPDATE OR DELETE ON payout_events FOR EACH ROW",
            event,
        ),
        ("payouts_indexed_insert", "AFTER INSERT ON payouts FOR EACH ROW", indexing),
        (
            "payouts_indexed_update",
            f"AFTER UPDATE ON payouts FOR EACH ROW WHEN ({changed})",
            indexing,
        ),
        ("payouts_indexed_delete", "AFTER DELETE ON payouts FOR EACH ROW", forgetting),
        (
            "payouts_of_people_insert",
            f"AFTER INSERT ON payouts FOR EACH ROW WHEN ({by_person['NEW']})",
            listing,
        ),
        (
            "payouts_of_people_delete",
            f"AFTER DELETE ON payouts FOR EACH ROW WHEN ({by_person['OLD']})",
            listing,
        ),
        ("payouts_told", f"AFTER UPDATE ON payouts FOR EACH ROW WHEN ({_ENDS})", telling),
        ("events_delivered", "AFTER INSERT ON events FOR EACH ROW", delivering),
    ):
        yield f"CREATE TRIGGER {name} {on} EXECUTE FUNCTION {function}()"
