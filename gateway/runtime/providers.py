"""Configured providers by name, the bank behind an account, and the health of each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from gateway.config.upstream import Provider
from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.providers import Bank, CredentialsRefused, ProviderAccount, ProviderAdapter
from gateway.domain.kernel.clocks import Now
from gateway.http.backoffice.oversight.providers import Health
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
        adapter_name: Of the adapter, as configured.
    """

    adapter: ProviderAdapter
    read_only: bool
    open_secrets: Callable[[str], object] | None = None
    adapter_name: str = ""


# One small object for each account that was used; above this bound the oldest go.
_BANKS_KEPT = 10_000


class ConnectedBanks:
    """
    Finds banks; a ``Banks``.

    An account's bank is kept for as long as its record leads to the same place
    with the same sealed credentials, so that those are opened once.
    """

    def __init__(
        self, connections: Mapping[str, Connection], unseal: Callable[[bytes, str], str]
    ) -> None:
        """Open credentials by ``unseal``: sealed bytes, and the account id they are bound to."""
        self._connections = connections
        self._unseal = unseal
        self._kept: OrderedDict[str, tuple[Account, Bank | None]] = OrderedDict()

    def of(self, account: Account) -> Bank | None:
        """
        Return the account's bank; None when its provider is not configured here.

        Raises:
            CredentialsRefused: the account's provider credentials cannot be
                opened with the keys in force, or are not what its bank asks for.
        """
        kept = self._kept.get(account.id)
        if kept is not None and kept[0] is account:
            return kept[1]
        alike = kept is not None and _leads_alike(kept[0], account)
        bank = kept[1] if kept is not None and alike else self._connected(account)
        self._kept[account.id] = (account, bank)
        if len(self._kept) > _BANKS_KEPT:
            self._kept.popitem(last=False)
        return bank

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
            ),
            read_only=connection.read_only,
        )

    def _opened(self, account: Account) -> str:
        """Open what the account keeps for its bank; empty when it keeps nothing."""
        sealed = account.sealed_credentials
        try:
            return self._unseal(sealed, account.id) if sealed else ""
        except SealBroken as problem:
            reason = "seal_broken"
            raise CredentialsRefused(reason) from problem


def _leads_alike(one: Account, other: Account) -> bool:
    """Say whether two records of an account lead to the same place as the same caller."""
    return (one.provider, one.provider_account, one.sealed_credentials) == (
        other.provider,
        other.provider_account,
        other.sealed_credentials,
    )


def limits_of(provider: Provider) -> Mapping[str, object]:
    """Write a provider's limits as an adapter's settings take them."""
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
            "waiting": provider.waiting,
            "wait_s": provider.waiting_s,
        },
    }


_OK = "ok"


@dataclass(slots=True)
class _Seen:
    """What was seen of one provider."""

    breakers: dict[str, str] = field(default_factory=dict)
    call: ProviderCall | None = None
    at: datetime | None = None
    ok_at: datetime | None = None
    problem: str = ""


class ProviderHealth:
    """Stands between adapters and the observer, and remembers the latest; an ``Observer``."""

    def __init__(self, told: Observer, now: Now) -> None:
        """Pass everything on to ``told``."""
        self._told = told
        self._now = now
        self._seen: dict[str, _Seen] = {}

    def known(self, connections: Mapping[str, Connection]) -> Sequence[Health]:
        """Return what is known of every configured provider, by name."""
        return [self._health(name, connections[name]) for name in sorted(connections)]

    def provider_call(self, call: ProviderCall) -> None:
        """Remember a call of a bank, and pass it on."""
        seen = self._of(call.provider)
        seen.call, seen.at = call, self._now()
        if call.outcome == _OK:
            seen.ok_at = seen.at
        self._told.provider_call(call)

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Remember a breaker's new state, and pass it on."""
        self._of(provider).breakers[operation_class] = state
        self._told.breaker(provider, operation_class, state)

    def provider_retry(self, provider: str, operation: str) -> None:
        """Pass it on."""
        self._told.provider_retry(provider, operation)

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Pass it on."""
        self._told.in_flight(provider, calls, limit)

    def certificate(self, provider: str, ends: datetime) -> None:
        """Pass it on."""
        self._told.certificate(provider, ends)

    def count(self, event: Event, label: str) -> None:
        """Remember an adapter's fault, told as ``provider.operation``, and pass it on."""
        if event is Event.ADAPTER_FAULT:
            provider, _, operation = label.rpartition(".")
            at = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
            self._of(provider).problem = f"{operation} broke the port, last at {at}"
        self._told.count(event, label)

    def _of(self, provider: str) -> _Seen:
        seen = self._seen.get(provider)
        return seen if seen is not None else self._seen.setdefault(provider, _Seen())

    def _health(self, name: str, connection: Connection) -> Health:
        seen, adapter = self._of(name), connection.adapter
        return Health(
            name=name,
            read_only=connection.read_only or not adapter.capabilities.payouts,
            adapter=connection.adapter_name,
            capabilities=adapter.capabilities,
            problem=seen.problem,
            breakers=dict(seen.breakers),
            last_call_at=seen.at,
            last_operation=seen.call.operation if seen.call else "",
            last_outcome=seen.call.outcome if seen.call else "",
            last_ok_at=seen.ok_at,
        )
