"""The common part of adapters with one client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from gateway.banks.port.capabilities import Capabilities
from gateway.banks.port.pix_keys import PixKey
from gateway.banks.port.providers import BadReply, NotFound, ProviderAccount, ProviderError, Reason
from provider_adapters.kit.client import ProviderClient

Made = TypeVar("Made")


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


async def made_or_read(making: Awaitable[Made], read: Callable[[], Awaitable[Made]]) -> Made:
    """
    Make something that the bank did not have before; read it where the answer is unreadable.

    The bank has it then, most likely: a created object is not reported as failed. Not for money.

    Raises:
        ProviderError: As ``making`` raises it; ``BadReply`` where reading helps no further.
    """
    try:
        return await making
    except BadReply as odd:
        try:
            return await read()
        except ProviderError:
            raise odd from None


def key_of(keys: Iterable[PixKey], account: ProviderAccount, key_id: str) -> PixKey:
    """Find a key by its public id, which is ours and not the bank's; raises ``NotFound``."""
    for key in keys:
        if key.public_id(account.account_id) == key_id:
            return key
    raise NotFound(Reason.NOT_FOUND)
