"""What adapters with one client have alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.domain.bank.capabilities import Capabilities
from gateway.domain.bank.pix_keys import PixKey
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import NotFound, ProviderAccount
from provider_adapters.kit.client import ProviderClient


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAdapter:
    """One configured provider whose calls all go through one client."""

    capabilities: Capabilities
    client: ProviderClient

    async def start(self) -> None:
        """Open the client's connections on the running loop."""
        await self.client.start()

    async def close(self) -> None:
        """Close the client's connections."""
        await self.client.close()


def key_of(keys: Iterable[PixKey], account: ProviderAccount, key_id: str) -> PixKey:
    """Find a key by its public id, which the bank does not know; raises ``NotFound``."""
    for key in keys:
        if key.public_id(account.account_id) == key_id:
            return key
    raise NotFound(Reason.NOT_FOUND)
