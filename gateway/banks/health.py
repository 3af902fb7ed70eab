"""Configured providers, the bank behind an account, and the health of each provider."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec
from yarl import URL

from gateway.banks import model
from gateway.banks.model import WELL
from gateway.banks.paces import SLOWEST, Pace
from gateway.banks.port.capabilities import described
from gateway.banks.port.providers import Bank, CredentialsRefused, ProviderAccount, ProviderAdapter
from gateway.config.upstream import Breaker, Provider
from gateway.core.account import Account
from gateway.core.clocks import Now
from gateway.net.common.runtime import Proxy
from gateway.security.sealing import SealBroken
from gateway.telemetry.ports import Event
from gateway.telemetry.records import Observer, ProviderCall


@dataclass(frozen=True, slots=True)
class Connection:
    """
    A configured provider.

    Attributes:
        read_only: Whether the operator allows no payouts.
        open_secrets: Reads an account's secrets from the text that was sealed; None for
            a bank that wants a single text. Raises ``CredentialsRefused``.
        adapter_name: The adapter's name, as configured.
        in_flight_limit: This process's maximum of concurrent calls.
        pace: Rate limit of status queries for its unsettled payouts.
    """

    adapter: ProviderAdapter
    read_only: bool
    open_secrets: Callable[[str], object] | None = None
    adapter_name: str = ""
    in_flight_limit: int = 0
    pace: Pace = SLOWEST


class ConnectedBanks:
    """
    Finds banks; a ``Banks``.

    The result is kept on the account's record, so that its credentials are decrypted once.
    """

    def __init__(
        self, connections: Mapping[str, Connection], unseal: Callable[[bytes, str], str]
    ) -> None:
        """Decrypt credentials by ``unseal``: sealed bytes, and the account id they are bound to."""
        self._connections = connections
        self._unseal = unseal

    def of(self, account: Account) -> Bank | None:
        """
        Return the account's bank; None when its provider is not configured here.

        Raises:
            CredentialsRefused: the account's provider credentials cannot be
                opened with the keys in force, or are not what its bank asks for.
        """
        derived = account.derived
        if derived.bank_by is self:
            kept: Bank | None = derived.bank
            return kept
        derived.bank = bank = self._connected(account)
        derived.bank_by = self
        return bank

    def pace_of(self, provider: str) -> Pace:
        """Return the rate limit of status queries for a provider's unsettled payouts."""
        connection = self._connections.get(provider)
        return SLOWEST if connection is None else connection.pace

    def _connected(self, account: Account) -> Bank | None:
        """Connect an account to its provider."""
        connection = self._connections.get(account.provider)
        if connection is None:
            return None
        text, opener = self._opened(account), connection.open_secrets
        return Bank(
            name=account.provider,
            adapter=connection.adapter,
            account=ProviderAccount(
                account_id=account.id,
                provider_account=account.provider_account,
                credentials="" if opener else text,
                secrets=opener(text) if opener and text else None,
                holder=account.name,
            ),
            read_only=connection.read_only,
        )

    def _opened(self, account: Account) -> str:
        """Decrypt the account's secrets for its bank; empty without secrets."""
        sealed = account.sealed_credentials
        try:
            return self._unseal(sealed, account.id) if sealed else ""
        except SealBroken as problem:
            reason = "seal_broken"
            raise CredentialsRefused(reason) from problem


def limits_of(provider: Provider) -> Mapping[str, object]:
    """Convert a provider's limits to an adapter's settings."""
    said = provider.account_limits.in_flight is not None
    return {
        "connect_s": provider.connect_timeout_s,
        "first_byte_s": provider.first_byte_timeout_s or None,
        "read_s": provider.read_timeout_s,
        "payout_s": provider.payout_timeout_s,
        "payout_connections": provider.payout_connections,
        "account_limits": msgspec.to_builtins(provider.account_limits),
        "breaker": msgspec.to_builtins(provider.breaker),
        "bulkhead": {
            "in_flight": provider.in_flight,
            # a quarter of the places for one account, unless somebody said how many
            "for_one": None if said else max(1, provider.in_flight // 4),
            "waiting": provider.waiting,
            "wait_s": provider.waiting_s,
        },
    }


def proxy_of(provider: Provider) -> Proxy | None:
    """Return the connector of a provider's proxy; None without one. The URL has been checked."""
    if not provider.proxy.url:
        return None
    url = URL(provider.proxy.url)
    user = provider.proxy.user
    credentials = b64encode(user.encode() + b":" + provider.proxy.password.encode())
    authorization = f"Basic {credentials.decode()}" if user else ""
    return Proxy(host=url.raw_host or "", port=url.port or 0, authorization=authorization)


_OK = "ok"
_SECOND = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(slots=True)
class _Seen:
    """The last observations of one provider."""

    breakers: dict[str, str] = field(default_factory=dict)
    call: ProviderCall | None = None
    at: datetime | None = None
    ok_at: datetime | None = None
    problem: str = ""
    failed: ProviderCall | None = None
    failed_at: datetime | None = None
    in_flight: tuple[int, int] = (0, 0)
    certificate_ends_at: datetime | None = None
    openings: dict[str, int] = field(default_factory=dict)
    open_until: dict[str, datetime] = field(default_factory=dict)


class ProviderHealth:
    """Forwards observations of adapters and keeps the latest; an ``Observer``."""

    def __init__(
        self, told: Observer, now: Now, breakers: Mapping[str, Breaker] | None = None
    ) -> None:
        """Forward everything to ``told``; ``breakers`` hold each provider's pause."""
        self._told = told
        self._now = now
        self._breakers = breakers or {}
        self._seen: defaultdict[str, _Seen] = defaultdict(_Seen)

    def known(self, connections: Mapping[str, Connection]) -> Sequence[model.Provider]:
        """Return the health of every configured provider, by name."""
        return [self._health(name, connections[name]) for name in sorted(connections)]

    def provider_call(self, call: ProviderCall) -> None:
        """Store a call of a bank, and forward it."""
        seen = self._seen[call.provider]
        seen.call, seen.at = call, self._now()
        if call.outcome == _OK:
            seen.ok_at = seen.at
        elif call.outcome not in WELL:
            seen.failed, seen.failed_at = call, seen.at
        self._told.provider_call(call)

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Store a breaker's new state, and forward it."""
        seen = self._seen[provider]
        seen.breakers[operation_class] = state
        seen.open_until.pop(operation_class, None)
        if state == "open":
            self._opened(provider, operation_class)
        elif state == "closed":
            seen.openings.pop(operation_class, None)
        self._told.breaker(provider, operation_class, state)

    def provider_retry(self, provider: str, operation: str) -> None:
        """Forward a retry."""
        self._told.provider_retry(provider, operation)

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Store the number of calls in flight, and forward it."""
        self._seen[provider].in_flight = calls, limit
        self._told.in_flight(provider, calls, limit)

    def certificate(self, provider: str, ends: datetime) -> None:
        """Store the certificate's expiry, and forward it."""
        self._seen[provider].certificate_ends_at = ends
        self._told.certificate(provider, ends)

    def count(self, event: Event, label: str) -> None:
        """Store an adapter's fault, named ``provider.operation``, and forward it."""
        if event is Event.ADAPTER_FAULT:
            provider, _, operation = label.rpartition(".")
            at = self._now().strftime(_SECOND)
            self._seen[provider].problem = f"{operation} broke the port, last at {at}"
        self._told.count(event, label)

    def _opened(self, provider: str, operation_class: str) -> None:
        """Store until about when a breaker stays open: longer each time in a row."""
        seen, limits = self._seen[provider], self._breakers.get(provider, Breaker())
        seen.openings[operation_class] = seen.openings.get(operation_class, 0) + 1
        open_s = min(limits.longest_open_s, limits.open_s * seen.openings[operation_class])
        seen.open_until[operation_class] = self._now() + timedelta(seconds=open_s)

    def _state(self, seen: _Seen, kind: str) -> str:
        """Return a breaker's state; after its pause the next call is a trial, whenever it comes."""
        until = seen.open_until.get(kind)
        return "half_open" if until is not None and until <= self._now() else seen.breakers[kind]

    def _health(self, name: str, connection: Connection) -> model.Provider:
        seen, adapter = self._seen[name], connection.adapter
        return model.Provider(
            name=name,
            read_only=connection.read_only or not adapter.capabilities.payouts,
            adapter=connection.adapter_name,
            operations=sorted(adapter.capabilities.operations),
            capabilities=described(adapter.capabilities),
            problem=seen.problem,
            breakers={kind: self._state(seen, kind) for kind in seen.breakers},
            last_call_at=seen.at,
            last_operation=seen.call.operation if seen.call else "",
            last_outcome=seen.call.outcome if seen.call else "",
            last_ok_at=seen.ok_at,
            last_failed_at=seen.failed_at,
            last_failed_operation=seen.failed.operation if seen.failed else "",
            last_failure=seen.failed.outcome if seen.failed else "",
            in_flight=seen.in_flight[0],
            in_flight_limit=seen.in_flight[1] or connection.in_flight_limit,
            open_until={kind: f"{at:{_SECOND}}" for kind, at in seen.open_until.items()},
            certificate_ends_at=seen.certificate_ends_at,
        )
