"""A simulated bank as it can be run, and how a gateway is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from provider_adapters.testing.bank.dialect import Dialect
from provider_adapters.testing.bank.kernel.accounts import PayoutKind


class BankAddress(msgspec.Struct, frozen=True, kw_only=True):
    """
    Where a running bank is reached, from another process too.

    Attributes:
        url: Its customers' port.
        token_url: Where they are given tokens; empty for the same port.
        authority_file: What its TLS is verified with, in PEM; empty without TLS.
    """

    url: str
    control_url: str
    token_url: str = ""
    authority_file: str = ""


def _base_url(address: BankAddress) -> Mapping[str, object]:
    return {"base_url": address.url}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulator:
    """A simulated bank; docs/providers/simulators.md says what each field is for."""

    adapter: str
    dialect: Dialect
    settings: Callable[[BankAddress], Mapping[str, object]] = _base_url
    repeats: Mapping[PayoutKind, Mapping[str, object]] = field(default_factory=dict)
    tells_returns: bool = True

    @property
    def pays(self) -> bool:
        """Whether the bank takes payouts."""
        return any(row.operation == "payout" for row in self.dialect.rows)

    @property
    def kinds(self) -> Mapping[PayoutKind, Mapping[str, object]]:
        """The kinds of account, each with what the adapter is told of it; at least one."""
        return self.repeats or {self.dialect.payout_kind: {}}

    def provider(self, address: BankAddress) -> dict[str, object]:
        """Return a provider of the gateway's configuration for a running bank."""
        trusted = {"tls": {"ca": address.authority_file}} if address.authority_file else {}
        return {"adapter": self.adapter, "settings": dict(self.settings(address)), **trusted}
