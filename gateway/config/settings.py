"""
Every setting, its type, its bounds and its default.

Times are seconds and sizes bytes. The defaults are from the hardening
rules of the gateway: safe for production, where a stricter answer exists.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from gateway.config.identity import Identity, Session
from gateway.config.listeners import Admin, Server, Trace
from gateway.config.upstream import Provider, SandboxBank
from gateway.config.values import (
    Address,
    Count,
    Label,
    Name,
    Reais,
    ReaisOrOff,
    Seconds,
    SecondsOrNone,
    Secret,
    TimeOfDay,
    read_networks,
    written,
)
from gateway.core.account import Environment
from gateway.core.limits import CallRate
from gateway.core.rights import Role


class Database(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The store.

    Attributes:
        url: ``postgresql://...`` or ``sqlite:///...``; empty is the file
            ``pixgate.db`` in the folder ``var``.
        pool: Connections held open, per process (PostgreSQL).
        timeout_s: For a connection of the pool, and for a statement.
        auth_timeout_s: To look up a credential or account; then 503.
        allow_sqlite_in_production: Permits SQLite there, for one process only.
        clock_tolerance_s: How far the clocks of a process and of the server may be
            apart; further, and the process is not ready and claims no work.
        pooler: The pooler in front of a server: ``none``, also for a pooler with
            a session for each of our connections; ``session``, one with fewer;
            ``transaction``, one that gives each transaction another session.
        migrate: ``auto`` brings the schema of a file up to date at the start,
            ``always`` that of a server too, ``never`` refuses an older one.
    """

    url: Annotated[Address, written("${PIXGATE_DATABASE_URL:-}")] = Address("")
    pool: Count = 10
    timeout_s: Seconds = 2.0
    auth_timeout_s: Seconds = 0.5
    allow_sqlite_in_production: bool = False
    clock_tolerance_s: Annotated[float, Meta(ge=2, le=300)] = 5.0
    pooler: Literal["none", "session", "transaction"] = "none"
    migrate: Literal["auto", "always", "never"] = "auto"


class Basic(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Partners' credentials.

    Attributes:
        cache_ttl_s: How long a credential or account is kept without being read
            anew. Changes usually arrive sooner; this bounds unreported changes,
            such as a row changed by hand.
        cache_negative_ttl_s: How long it is kept that there is none.
        cache_size: Most accounts kept, and most credentials, per process.
        pepper: The pepper of the digests of client secrets; any text of
            32 bytes or more.
        retired_peppers: Former peppers, by a label of yours, for the secrets
            digested under them.
    """

    cache_ttl_s: Annotated[float, Meta(gt=0, le=3600)] = 3600.0
    cache_negative_ttl_s: Annotated[float, Meta(gt=0, le=5)] = 2.0
    cache_size: Annotated[int, Meta(ge=1, le=1_000_000)] = 100_000
    pepper: Annotated[Secret, written("${PIXGATE_PEPPER:-}")] = Secret("")
    retired_peppers: dict[Label, Secret] = field(default_factory=dict)


class Auth(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Who is calling.

    Attributes:
        basic: Partners, by client id and secret.
    """

    basic: Basic = Basic()


class Sealing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The encryption of provider credentials in the store.

    Attributes:
        key: 32 random bytes in base64.
        retired_keys: Former keys, by a label of yours, for what they sealed.
    """

    key: Annotated[Secret, written("${PIXGATE_SEALING_KEY:-}")] = Secret("")
    retired_keys: dict[Label, Secret] = field(default_factory=dict)


class FailedCredentials(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Refused credentials that are still answered 401; those above are answered 429.

    Attributes:
        per_address: In the window, from one address.
        per_address_and_client: In the window, from one address for one client id.
        hard_per_address: In the window; above, the address is refused unread.
        window_s: The window.
    """

    per_address: Count = 60
    per_address_and_client: Count = 20
    hard_per_address: Count = 600
    window_s: Seconds = 60.0


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The load limits of one process.

    Attributes:
        in_flight: Requests at once; each class of routes has a part of them. Above: 503.
        loop_lag_s: Classes are shed while the event loop is later than a multiple of it, and those
            of people and strangers while the store is waited for longer (95th percentiles).
        failed_credentials: The throttle on refused credentials.
    """

    in_flight: Count = 1_000
    loop_lag_s: Seconds = 0.25
    failed_credentials: FailedCredentials = FailedCredentials()


class RateLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Quotas of partners, of people, and of unidentified callers; above: 429.

    Attributes:
        read: Reads, per credential.
        payout: Payout creation, per credential.
        company: Everything, per company.
        anonymous: Identity before a sign-in, per address.
        keys: The public keys of access tokens, per address; any page may read those.
        sign_in: Wrong passwords, per address; a right one costs nothing.
        second_factor: Wrong codes, per address; a right one costs nothing.
        recovery: Links asked for and used, per address.
        person: Everything after a sign-in, per person, whatever their sessions.
        owner_lookups: Owners of Pix keys, and CPFs, that a person looks up or searches for.
        owner_mismatches: Payouts of a credential that its bank refuses since the tax number is not
            that of the key's owner; beyond them its payouts by key are refused for a while.
        exports: Files that a person takes away.
        exported_rows: Rows of these files.
        alarming_rows: Rows of these files above which an alarm is raised; none is refused.
        listed_rows: Rows of lists above which the same alarm is raised; none is refused.
    """

    read: CallRate = CallRate(rate=50, burst=100)
    payout: CallRate = CallRate(rate=10, burst=20)
    company: CallRate = CallRate(rate=200, burst=400)
    anonymous: CallRate = CallRate(rate=20, burst=40)
    keys: CallRate = CallRate(rate=20, burst=40)
    sign_in: CallRate = CallRate(rate=0.083, burst=10)
    second_factor: CallRate = CallRate(rate=0.083, burst=10)
    recovery: CallRate = CallRate(rate=0.083, burst=10)
    person: CallRate = CallRate(rate=20, burst=40)
    owner_lookups: CallRate = CallRate(rate=0.0083, burst=30)
    owner_mismatches: CallRate = CallRate(rate=0.0556, burst=200)
    exports: CallRate = CallRate(rate=0.0167, burst=30)
    exported_rows: CallRate = CallRate(rate=28, burst=100_000)
    alarming_rows: CallRate = CallRate(rate=1.4, burst=5_000)
    listed_rows: CallRate = CallRate(rate=14, burst=10_000)


class Night(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The night in São Paulo, and the limits in it of credentials without such limits of their own.

    Attributes:
        begins, ends: Times of day in São Paulo (``America/Sao_Paulo`` of the tz database).
        limit_per_payout: Reais that one payout of a credential may have at night; null for no
            default.
        limit_per_night: Reais that the payouts of a credential in one night may sum up to; null
            for no default.
    """

    begins: TimeOfDay = "20:00"
    ends: TimeOfDay = "06:00"
    limit_per_payout: Reais | None = None
    limit_per_night: Reais | None = None


class Payouts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    How payouts are made and followed up.

    Attributes:
        look_first: Asks the bank for a payout before it is sent; for the time
            after the store was restored from a backup.
        similar_within_s: How long another payout of the same amount to the same
            recipient is remembered; 0 looks for none.
        similar: ``warn`` counts and logs one like it, ``refuse`` answers 403.
        approval_above: Reais with two decimals: a payout or refund that a person
            orders waits for another person when it is above; ``"0.00"`` lets
            every one wait, null none. Partners' payouts never wait.
        hold_above: Reais with two decimals: a payout by which a payee whom the company had not
            paid a day ago gets more within a day is held; ``off`` holds none. Empty is 1000.00 in
            production, ``off`` in the sandbox.
        hold_s: How long it is held, at most until midnight UTC, which ends it as not sent.
        events_kept_days: How long what happened to payouts is kept event by event, on PostgreSQL
            up to a month longer.
        keep_months: ``pixgate payouts archive write`` moves payouts to files that were created
            before this month and so many before it; absent, it moves none and all stay. Nothing
            else deletes payouts, their tries, or what people said of them.
        foreign_debits_every_s: How often the statements of active accounts are read for debits
            that are none of ours; 0 reads none.
        night: The hours of the night, and the default limits of credentials in them.
    """

    look_first: Annotated[bool, written("${PIXGATE_LOOK_FIRST:-false}")] = False
    similar_within_s: SecondsOrNone = 600.0
    similar: Literal["warn", "refuse"] = "warn"
    approval_above: Reais | None = "0.00"
    hold_above: Annotated[ReaisOrOff, written("${PIXGATE_HOLD_ABOVE:-}")] = ""
    hold_s: Annotated[float, Meta(ge=1, le=43_200)] = 1800.0
    events_kept_days: Annotated[int, Meta(ge=31, le=3660)] = 90
    keep_months: Annotated[int, Meta(ge=6, le=240)] | None = None
    foreign_debits_every_s: SecondsOrNone = 900.0
    night: Night = Night()


GuardMode = Literal["off", "watch", "stop"]


class Outflow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The outflow guard: payouts of credentials, accounts and companies beside their own history.

    Attributes:
        guard: ``watch`` alarms, ``stop`` stops payouts too, ``off`` does neither.
        companies: Another mode for a company, by its id.
        every_s: How often payouts are judged.
        new_payees: While there is no history: payouts in five minutes to payees never paid
            before; in an hour twice as many.
        new_payees_value: The same in reais with two decimals.
    """

    guard: Annotated[GuardMode, written("${PIXGATE_OUTFLOW_GUARD:-watch}")] = "watch"
    companies: dict[str, GuardMode] = field(default_factory=dict)
    every_s: Annotated[float, Meta(ge=0.5, le=60)] = 2.0
    new_payees: Count = 30
    new_payees_value: Reais = "50000.00"


class Notifications(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What people are told outside the panel.

    Attributes:
        push_key: Signs push messages to browsers: 32 random bytes in base64. Empty sends none.
            Browsers subscribe to it: after a change everybody subscribes again.
    """

    push_key: Annotated[Secret, written("${PIXGATE_PUSH_KEY:-}")] = Secret("")


class Events(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What partners are told of their accounts, and how it is delivered.

    Attributes:
        walk_every_s: How often accounts whose feed is read, or that have an endpoint, are searched
            at their banks for payments that no bank notified; 0 searches none.
        allow_local: Admits endpoints on this machine, without TLS and on any port, for trials;
            production refuses it.
        own_networks: Networks of ours with public addresses, separated by commas: nothing is
            delivered there.
    """

    walk_every_s: SecondsOrNone = 60.0
    allow_local: Annotated[bool, written("${PIXGATE_EVENTS_ALLOW_LOCAL:-false}")] = False
    own_networks: str = ""

    @property
    def networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """Our own networks; ValueError names an invalid one."""
        return read_networks(self.own_networks)


class Closings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    How the days of accounts are reconciled and closed.

    Attributes:
        signatures: ``two``: one person signs a day and another locks it. ``one``: the first
            signature locks a day without a difference.
        every_s: How often a worker looks for days to reconcile; 0 reconciles none.
        after_midnight_s: How long after its end, in São Paulo, a day is read: a bank may show a
            movement hours after its instant.
    """

    signatures: Literal["one", "two"] = "two"
    every_s: SecondsOrNone = 60.0
    after_midnight_s: Annotated[float, Meta(ge=0, le=28_800)] = 21_600.0


class Sandbox(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What partners may do in a sandbox beside the contract.

    Attributes:
        open: Partners drive the sandbox bank at their accounts, and anybody who reaches the
            listener gets a credential for a day; production refuses it.
    """

    open: bool = False


class Approvals(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Other orders that wait for a second person; money is ``payouts.approval_above``.

    Off is for a platform that one person runs: then that person can issue a
    credential or make a colleague that pays out.

    Attributes:
        credentials: Secrets of credentials that can pay out, higher limits, and another
            bank of an account, or other credentials there; new, changed and other secrets of
            endpoints for events.
        people: Roles that may write; of people who have one, more companies, enabling
            them again, and second factors.
    """

    credentials: bool = True
    people: bool = True


class Cache(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Expensive reads kept for a while, such as statements; lost without harm.

    Attributes:
        url: ``redis://...`` or ``rediss://...`` (TLS) of a Redis or Valkey that every
            process shares, where it lies sealed, and limits of all processes are counted;
            empty keeps it in each process. ``redis+cluster://host:port,...`` of a Cluster,
            ``redis+sentinel://host:port,.../service`` of Sentinels; ``rediss+...`` with TLS.
            Production on PostgreSQL needs one, unless ``server.single_process`` is true.
        ca: A file in PEM with the authorities to trust instead of the system's, with TLS.
        sentinel_password: The Sentinels' password; the URL's is for the servers they watch.
        memory_bytes: Kept in the memory of one process at most; the least recently
            used goes first.
        timeout_s: For the server to answer; then it is as if nothing were kept.
    """

    url: Annotated[Address, written("${PIXGATE_CACHE_URL:-}")] = Address("")
    ca: str = ""
    sentinel_password: Annotated[Secret, written("${PIXGATE_CACHE_SENTINEL_PASSWORD:-}")] = Secret(
        ""
    )
    memory_bytes: Annotated[int, Meta(ge=1_048_576, le=17_179_869_184)] = 67_108_864
    timeout_s: Annotated[float, Meta(gt=0, le=10)] = 0.5


class Statements(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    How statements are read.

    Attributes:
        snapshot_s: How long the pages behind the first one come from what the first
            one found; 0 asks the bank for the whole window for every page.
        snapshot_bytes: A larger window is not kept.
    """

    snapshot_s: Annotated[float, Meta(ge=0, le=300)] = 60.0
    snapshot_bytes: Annotated[int, Meta(ge=65_536, le=1_073_741_824)] = 16_777_216


class Worker(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where the tasks run that no request waits for.

    Attributes:
        run: ``inside``: each server process does them itself. ``apart``: processes
            ``pixgate worker`` do, on PostgreSQL alone.
        nice: How far a worker steps back behind other processes, as of ``nice``.
    """

    run: Literal["inside", "apart"] = "inside"
    nice: Annotated[int, Meta(ge=0, le=19)] = 10


class Tracing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Spans of requests and follow-ups, by OpenTelemetry.

    Attributes:
        endpoint: ``http://...`` or ``https://...`` of a collector that takes OTLP over HTTP, with
            the path, usually ``/v1/traces``; empty records no spans.
        ratio: The share of traces recorded; a caller's ``traceparent`` decides for its own.
        headers: Of each call of the collector, such as its credential.
    """

    endpoint: Annotated[Address, written("${PIXGATE_TRACING_ENDPOINT:-}")] = Address("")
    ratio: Annotated[float, Meta(ge=0, le=1)] = 0.05
    headers: dict[Label, Secret] = field(default_factory=dict)


class Telemetry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Logs, metrics and traces of the process.

    Attributes:
        level: The least severe line written.
        request_log: Keeps the lines of requests for thirty days, for operators
            to search; under load the common ones are thinned out.
        tracing: Spans.
    """

    level: Literal["debug", "info", "warning", "error"] = "info"
    request_log: bool = True
    tracing: Tracing = Tracing()


_HELD_IN_PRODUCTION: Final = "1000.00"
"""As much as the central bank lets an unknown device pay in a day."""
_EVERY_ADDRESS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - nothing is bound to it


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The whole configuration.

    Attributes:
        environment: ``sandbox`` or ``production``; they share no data.
        var: The folder for the process's files; a relative path starts at
            the folder the process runs in.
        server, admin, trace, database, auth, identity, session, sealing: As
            their types say.
        limits, ratelimits, payouts, outflow, events, notifications, closings: See the classes.
        approvals, cache, statements, sandbox, sandbox_bank, telemetry, worker: See the classes.
        providers: By the name that accounts give.
    """

    environment: Annotated[Environment, written("${PIXGATE_ENVIRONMENT:-sandbox}")] = (
        Environment.SANDBOX
    )
    var: Annotated[str, Meta(min_length=1), written("${PIXGATE_VAR:-var}")] = "var"
    server: Server = Server()
    admin: Admin = Admin()
    trace: Trace = Trace()
    database: Database = Database()
    auth: Auth = Auth()
    identity: Identity = Identity()
    session: Session = Session()
    sealing: Sealing = Sealing()
    limits: Limits = Limits()
    ratelimits: RateLimits = RateLimits()
    payouts: Payouts = Payouts()
    outflow: Outflow = Outflow()
    events: Events = Events()
    notifications: Notifications = Notifications()
    closings: Closings = Closings()
    approvals: Approvals = Approvals()
    cache: Cache = Cache()
    statements: Statements = Statements()
    providers: dict[Name, Provider] = field(default_factory=dict)
    sandbox: Sandbox = Sandbox()
    sandbox_bank: SandboxBank = SandboxBank()
    telemetry: Telemetry = Telemetry()
    worker: Worker = Worker()

    @property
    def folder(self) -> Path:
        """The folder ``var``."""
        return Path(self.var)

    @property
    def store_url(self) -> Address:
        """The store's URL, the embedded default included, and the pooler as a parameter."""
        url, pooler = self.database.url, self.database.pooler
        if not url:
            return Address(f"sqlite:///{self.folder / 'pixgate.db'}")
        if pooler == "none" or url.startswith("sqlite"):
            return url
        return Address(f"{url}{'&' if '?' in url else '?'}pooler={pooler}")

    @property
    def factor_roles(self) -> frozenset[Role]:
        """The roles that change nothing without a second factor, here."""
        demands = {"always"}
        if self.environment is Environment.PRODUCTION:
            demands.add("production")
        wanted = self.identity.mfa_required
        return frozenset(role for role in Role if getattr(wanted, role.value) in demands)

    @property
    def hold_above(self) -> Reais | None:
        """The amount above which payouts to a first payee are held here; None holds none."""
        is_production = self.environment is Environment.PRODUCTION
        above = self.payouts.hold_above or (_HELD_IN_PRODUCTION if is_production else "off")
        return None if above == "off" else above

    @property
    def origin(self) -> str:
        """The begin of links to us, the sandbox's default included."""
        return self.identity.origin or f"http://{self.server.host}:{self.server.port}"

    def reached_at(self, port: int) -> str:
        """Return the public URL of the listener; empty where it is not configured."""
        host = self.server.host
        if self.identity.origin or host in _EVERY_ADDRESS:
            return self.identity.origin
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def migrates(self) -> bool:
        """Whether a start brings an older schema up to date."""
        is_file = self.store_url.startswith("sqlite")
        return self.database.migrate == "always" or (self.database.migrate == "auto" and is_file)

    @property
    def bank_file(self) -> Path:
        """The sandbox bank's ledger, the default included."""
        return Path(self.sandbox_bank.file or self.folder / "bank.db")
