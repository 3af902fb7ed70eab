"""A bank of API Pix behind the provider port: the standard's calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provider_adapters.apipix.callbacks import Callbacks
from provider_adapters.apipix.charges import Charges
from provider_adapters.apipix.received import Received
from provider_adapters.kit.client import ProviderClient


@dataclass(frozen=True, kw_only=True)
class ApiPixAdapter(Charges, Received, Callbacks):
    """
    One configured bank; one that offers more has a class of its own.

    Attributes:
        clients: The bank's own, and that of the host that gives tokens if it is another.
    """

    clients: Sequence[ProviderClient]

    async def start(self) -> None:
        """Open the clients' connections on the running loop."""
        for client in self.clients:
            await client.start()

    async def close(self) -> None:
        """Close the clients' connections."""
        for client in self.clients:
            await client.close()
