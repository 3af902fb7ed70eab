"""The road to a bank, behind an interface small enough to be built anew; ``wire`` is ours."""

from __future__ import annotations

from typing import Final, Protocol

from provider_adapters._shared.messages import ProviderAnswer, ProviderRequest
from provider_adapters._shared.passage import Passage

LONGEST_S: Final = 600.0
"""No call lasts longer, whatever anybody has set."""


class Transport(Protocol):
    """Carries one request to one bank, once."""

    async def start(self) -> None:
        """Open what needs an event loop."""
        ...

    async def close(self) -> None:
        """Let go of every connection."""
        ...

    async def call(
        self, request: ProviderRequest, passage: Passage, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """
        Send a request and read the whole answer, whatever its status.

        Tells ``passage`` how far it is, and asks it in the step that writes the
        first byte. It is over within so many seconds; the caller may cancel it
        at any point before.

        Raises:
            ProviderError: Unreachable when no byte left, else Unavailable or
                BadReply; with the reason ``timeout`` when the time is over.
        """
        ...
