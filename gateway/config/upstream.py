"""Settings of the banks behind the gateway. Times are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct, field

from gateway.config.values import Count, Label, Port, Seconds, SecondsOrNone, Secret, written
from gateway.core.limits import CallRate


class Breaker(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    When calls to a failing provider stop; per operation class.

    Attributes:
        consecutive: Failures in a row that open it.
        share: Failed share of the calls in the window that opens it.
        calls: In the window, below which the share means nothing.
        window_s: The window.
        open_s: How long it first stays open; each further time longer by as much.
        longest_open_s: But never longer than this.
        jitter: Share by which the open time varies either way.
        whole_bank: Whether failures of several accounts stop every account's calls. Without
            it each account's stop its own alone: for a bank that callers can make fail.
    """

    consecutive: Count = 5
    share: Annotated[float, Meta(gt=0, le=1)] = 0.5
    calls: Count = 20
    window_s: Seconds = 30.0
    open_s: Seconds = 10.0
    longest_open_s: Seconds = 120.0
    jitter: Annotated[float, Meta(ge=0, lt=1)] = 0.2
    whole_bank: bool = True


class AccountLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The bank's limits for each account; they take precedence over the adapter's.

    Attributes:
        in_flight: Calls at once for one account; 0 for no bound, null for a quarter of the
            provider's, or fewer where the adapter says so.
        rates: For each credential at the bank, by operation or ``"*"`` for all together;
            null lifts a rate that the adapter says.
    """

    in_flight: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    rates: dict[Label, CallRate | None] = field(default_factory=dict)


class Tls(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Files in PEM for an https address, read again when they change; empty where there is none.

    Attributes:
        ca: Whom to trust instead of the system's authorities.
        certificate: Ours, and after it those between it and the bank's authority.
        key: Of the certificate, unencrypted; empty when it is in ``certificate``.
    """

    ca: str = ""
    certificate: str = ""
    key: str = ""


class Proxy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A proxy that connects us to the bank by CONNECT, for networks that have no other way out.

    Attributes:
        url: ``http://host:port``; empty for connecting directly.
        user: Our name at the proxy; empty where it needs none.
        password: Of that user. Both go to the proxy unencrypted.
    """

    url: str = ""
    user: str = ""
    password: Secret = Secret("")


class Callbacks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The secrets that prove a bank's callbacks.

    Attributes:
        secret: As the bank gave it. Empty, in the sandbox environment, derives one from
            the sealing key, which only a bank on this machine has.
        retired_secrets: Former ones, by a label of yours, accepted as well.
    """

    secret: Secret = Secret("")
    retired_secrets: dict[Label, Secret] = field(default_factory=dict)


class Provider(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A configured provider; accounts name it.

    Attributes:
        adapter: The adapter that speaks to it (``pixgate providers`` lists them).
        read_only: Refuses payouts.
        settings: The adapter's own; which ones, its README says.
        tls: Whom to trust, and who we are.
        proxy: The proxy towards the bank.
        callbacks: The secrets that prove its callbacks.
        connect_timeout_s: To open a connection.
        first_byte_timeout_s: From the request written to the answer's first byte; zero
            leaves it to the whole call's time.
        read_timeout_s: A whole read.
        payout_timeout_s: A whole payout; then its outcome is unknown.
        in_flight: Calls at once, per process.
        waiting: Calls that may wait for one of those.
        waiting_s: How long they wait; then 502.
        payout_connections: Opened ahead for payouts, while payouts flow. Spares them the
            time to connect; one that the bank closes in the instant of the write leaves
            its payout unknown instead of not sent.
        account_limits: Of each account at the bank; a call beyond them waits for as long as
            ``waiting_s``, then it is refused unsent, and other accounts continue.
        breaker: When calls stop.
    """

    adapter: str
    read_only: bool = False
    settings: dict[str, object] = field(default_factory=dict)
    tls: Tls = Tls()
    proxy: Proxy = Proxy()
    callbacks: Callbacks = Callbacks()
    connect_timeout_s: Seconds = 2.0
    first_byte_timeout_s: SecondsOrNone = 0.0
    read_timeout_s: Seconds = 8.0
    payout_timeout_s: Seconds = 20.0
    in_flight: Count = 64
    waiting: Annotated[int, Meta(ge=0, le=1_000_000)] = 64
    waiting_s: Seconds = 1.0
    payout_connections: Annotated[int, Meta(ge=0, le=1_000)] = 0
    account_limits: AccountLimits = AccountLimits()
    breaker: Breaker = Breaker()


def same_bank(name: str, providers: Mapping[str, Provider]) -> frozenset[str]:
    """
    Return every name of the bank behind a provider: several may be configured for one bank.

    A bank is identified by adapter, profile (for adapters of several banks) and address. An address
    left to the adapter matches any.
    """
    kind, address = _bank(providers[name])
    banks = {other: _bank(each) for other, each in providers.items()}
    return frozenset(
        other
        for other, (its_kind, its_address) in banks.items()
        if its_kind == kind and (its_address == address or not (its_address and address))
    )


def _bank(provider: Provider) -> tuple[tuple[str, str], str]:
    """Return the bank's identity: adapter, profile and address."""
    given = provider.settings
    address = str(given.get("base_url") or "")
    return (provider.adapter, str(given.get("profile") or "")), address.casefold().rstrip("/")


class SandboxBank(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The bank that moves no real money; never in production.

    Attributes:
        start: Starts it inside the gateway's process.
        host: A loopback address: its control interface has no authentication.
        port: 0 takes a free one.
        control_port: Of the control interface; 0 takes a free one.
        file: Its ledger; empty is ``bank.db`` in the folder ``var``.
        settle_after_s: How long an accepted payout takes to settle.
    """

    start: bool = False
    host: str = "127.0.0.1"
    port: Annotated[Port, written("${PIXGATE_BANK_PORT:-8090}")] = 8090
    control_port: Annotated[Port, written("${PIXGATE_BANK_CONTROL_PORT:-8091}")] = 8091
    file: str = ""
    settle_after_s: SecondsOrNone = 0.3

    @property
    def url(self) -> str:
        """URL for its customers."""
        return f"http://{self.host}:{self.port}"

    @property
    def control_url(self) -> str:
        """URL of its control interface."""
        return f"http://{self.host}:{self.control_port}"
