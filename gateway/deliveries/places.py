"""
The places of one process: how many deliveries it sends at once, to each endpoint and in all.

An endpoint begins with one place, gets another with each success, up to four, and falls back to one
by a failure. So an endpoint that hangs holds one place and not four. Endpoints that fail, or have
answered slowly within a minute, share a quarter of all places; those that fail pause between two
tries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from gateway.core.clocks import Monotonic
from gateway.deliveries.schedule import spread

MOST: Final = 64
MOST_OF_ENDPOINT: Final = 4
MOST_RESTRICTED: Final = 16
"""Of endpoints that fail or are slow, together."""
SLOW_S: Final = 2.0
"""A delivery that takes longer makes its endpoint slow."""
SLOW_FOR_S: Final = 60.0
"""So that one quick answer between slow ones does not give the places of the others back to it."""
LONGEST_PAUSE_S: Final = 60.0
"""Between two tries of an endpoint that fails, whatever deliveries are due."""
_DOUBLED: Final = 6
_KEPT: Final = 10_000
"""Endpoints that are remembered; those that nothing is sent to are forgotten."""


@dataclass(slots=True)
class _Endpoint:
    """
    The known state of an endpoint.

    Attributes:
        failures: One after the other, up to now.
        quiet_until: Before this reading of the clock nothing is sent.
        slow_until: Before this reading of the clock it counts as slow.
    """

    held: int = 0
    allowed: int = 1
    failures: int = 0
    quiet_until: float = -inf
    slow_until: float = -inf

    def is_restricted(self, now: float) -> bool:
        """Return whether it fails or was slow: such endpoints share few places."""
        return self.failures > 0 or now < self.slow_until


class Places:
    """
    Who may be sent to now.

    Args:
        chance: Numbers from 0 up to 1; spreads pauses.
    """

    def __init__(self, clock: Monotonic, chance: Callable[[], float]) -> None:
        self._clock, self._chance = clock, chance
        self._endpoints: dict[str, _Endpoint] = {}
        self._held = 0

    @property
    def held(self) -> int:
        """The places in use."""
        return self._held

    def share(self, due: Sequence[str], pinged: Collection[str] = ()) -> dict[str, int]:
        """
        Return how many deliveries may be sent to each endpoint now; those with none are left out.

        Each gets one before any gets a second, the first of ``due`` first. One that is ``pinged``
        gets one even while it pauses: people wait for the answer.
        """
        shares: dict[str, int] = {}
        free, now = MOST - self._held, self._clock()
        room = MOST_RESTRICTED - sum(
            each.held for each in self._endpoints.values() if each.is_restricted(now)
        )
        for turn in range(MOST_OF_ENDPOINT):
            for endpoint_id in due:
                one = self._endpoints.get(endpoint_id) or _Endpoint()
                is_ping = not turn and endpoint_id in pinged
                rests = now < one.quiet_until or (one.is_restricted(now) and room <= 0)
                if not free or one.held + turn >= one.allowed or (rests and not is_ping):
                    continue
                room -= one.is_restricted(now)
                free -= 1
                shares[endpoint_id] = turn + 1
        return shares

    def take(self, endpoint_id: str) -> None:
        """Take a place for a delivery."""
        if len(self._endpoints) >= _KEPT:
            now = self._clock()
            self._endpoints = {
                name: each
                for name, each in self._endpoints.items()
                if each.held or each.is_restricted(now)
            }
        self._endpoints.setdefault(endpoint_id, _Endpoint()).held += 1
        self._held += 1

    def give_back(
        self,
        endpoint_id: str,
        *,
        is_delivered: bool | None,
        took_s: float = 0.0,
        wait_s: float = 0.0,
    ) -> None:
        """
        Give the place back.

        Args:
            endpoint_id: Of the endpoint.
            is_delivered: What came of it; None where nothing was sent.
            took_s: How long the answer took.
            wait_s: For how long the endpoint wants to be left alone.
        """
        one = self._endpoints[endpoint_id]
        one.held -= 1
        self._held -= 1
        if took_s > SLOW_S:
            one.slow_until = self._clock() + SLOW_FOR_S
        if is_delivered:
            one.failures, one.quiet_until = 0, -inf
            one.allowed = min(one.allowed + 1, MOST_OF_ENDPOINT)
        elif is_delivered is not None:
            now, one.allowed = self._clock(), 1
            if now >= one.quiet_until:  # those sent together fail together, and count once
                pause_s = min(2.0 ** min(one.failures, _DOUBLED), LONGEST_PAUSE_S)
                one.failures += 1
                one.quiet_until = now + pause_s * spread(self._chance)
            one.quiet_until = max(one.quiet_until, now + wait_s)
