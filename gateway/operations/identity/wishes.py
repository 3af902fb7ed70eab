"""
Wishes for a reset link: noted while the caller waits, answered when nobody does.

Whether there is such a person is looked up behind the answer, so its duration tells
nothing. What waits is lost when the process dies: whoever gets no mail asks again.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, replace

from gateway.domain.stores import StoreUnavailable
from gateway.operations.identity.acts import own_act
from gateway.operations.identity.mailing import Mailing
from gateway.operations.identity.ports import Parts
from gateway.telemetry.trace import current_trace_id

_log = logging.getLogger(__name__)

_MOST = 1_000
"""More than the quotas let through while a store is away for minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """
    Somebody wants to reset a password.

    Attributes:
        email: As typed, in lower case; perhaps nobody's.
        address: Where the wish came from.
    """

    email: str
    address: str
    trace_id: str


class ResetWishes:
    """
    What waits to be answered in this process.

    Attributes:
        parts: What links are made from.
    """

    def __init__(self, parts: Parts) -> None:
        """Begin with nothing."""
        self.parts = parts
        self._waiting: deque[Wish] = deque()

    def add(self, email: str, address: str) -> None:
        """Note a wish; costs the same whoever is asked for."""
        if len(self._waiting) >= _MOST:
            _log.warning("a wish for a reset link was dropped: too many wait")
            return
        self._waiting.append(Wish(email=email, address=address, trace_id=current_trace_id()))

    async def answer(self) -> int:
        """
        Send a link to everybody who exists and asked; return how many were sent.

        Raises:
            StoreUnavailable: the store does not answer; what is left waits for the next turn.
        """
        count = 0
        while self._waiting:
            wish = self._waiting.popleft()
            try:
                count += await self._send(wish)
            except StoreUnavailable:
                self._waiting.appendleft(wish)
                raise
        return count

    async def _send(self, wish: Wish) -> bool:
        """Send one link; False for nobody, and for who has enough of them."""
        user = await self.parts.stored.users.find_by_email(wish.email)
        if user is None or not user.active or not user.password:
            return False
        if not await Mailing(self.parts).reset(user):
            return False
        event = own_act(self.parts, user, "password.forgotten", address=wish.address)
        await self.parts.stored.audit.append(replace(event, trace_id=wish.trace_id))
        return True
