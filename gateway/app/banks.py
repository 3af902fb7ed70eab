"""Configured providers by name, and the bank behind an account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from gateway.config.upstream import Provider
from gateway.domain.accounts import Account
from gateway.domain.providers import Bank, ProviderAccount, ProviderAdapter


@dataclass(frozen=True, slots=True)
class Connection:
    """A configured provider: its adapter, and whether the operator allows no payouts."""

    adapter: ProviderAdapter
    read_only: bool


@dataclass(frozen=True, slots=True)
class ConnectedBanks:
    """
    Finds banks; a ``Banks``.

    Attributes:
        unseal: Opens an account's provider credentials: sealed bytes and the
            account id they are bound to, into text.
    """

    connections: Mapping[str, Connection]
    unseal: Callable[[bytes, str], str]

    def of(self, account: Account) -> Bank | None:
        """Return the account's bank; None when its provider is not configured here."""
        connection = self.connections.get(account.provider)
        if connection is None:
            return None
        sealed = account.sealed_credentials
        return Bank(
            name=account.provider,
            adapter=connection.adapter,
            account=ProviderAccount(
                account_id=account.id,
                provider_account=account.provider_account,
                credentials=self.unseal(sealed, account.id) if sealed else "",
            ),
            read_only=connection.read_only or not connection.adapter.capabilities.payouts,
        )


def limits_of(provider: Provider) -> Mapping[str, object]:
    """Write a provider's limits as an adapter's settings take them."""
    return {
        "connect_s": provider.connect_timeout_s,
        "read_s": provider.read_timeout_s,
        "payout_s": provider.payout_timeout_s,
        "breaker": msgspec.to_builtins(provider.breaker),
        "bulkhead": {
            "in_flight": provider.in_flight,
            "waiting": provider.waiting,
            "wait_s": provider.waiting_s,
        },
    }
