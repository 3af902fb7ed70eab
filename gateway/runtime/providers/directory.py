"""Configured providers by name, and the bank behind an account."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from gateway.config.upstream import Provider
from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.providers import Bank, CredentialsRefused, ProviderAccount, ProviderAdapter
from gateway.security.sealing import SealBroken


@dataclass(frozen=True, slots=True)
class Connection:
    """A configured provider: its adapter, and whether the operator allows no payouts."""

    adapter: ProviderAdapter
    read_only: bool


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
                opened with the keys in force.
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
        return Bank(
            name=account.provider,
            adapter=connection.adapter,
            account=ProviderAccount(
                account_id=account.id,
                provider_account=account.provider_account,
                credentials=self._opened(account),
            ),
            read_only=connection.read_only or not connection.adapter.capabilities.payouts,
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
        "breaker": msgspec.to_builtins(provider.breaker),
        "bulkhead": {
            "in_flight": provider.in_flight,
            "waiting": provider.waiting,
            "wait_s": provider.waiting_s,
        },
    }
