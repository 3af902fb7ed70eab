"""The port to limits shared by all processes: token buckets, failures, pauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

PATIENCE_S: Final = 0.020
"""No request waits for longer; a server on the same network answers in one or two."""


class Ask(NamedTuple):
    """
    A request to one token bucket.

    Attributes:
        key: Names the bucket; never stored in clear.
        step_s: The seconds in which a token comes back: one through the rate.
        room_s: How far the bucket may be from full, in seconds: its burst at that rate.
        want: Tokens wanted; fewer are given where there are fewer.
        back: Tokens given back before; below 0 for tokens that are owed.
        debt_s: How much further from full than ``room_s`` the tokens that are owed may bring it;
            a minute at most.
    """

    key: str
    step_s: float
    room_s: float
    want: int = 1
    back: int = 0
    debt_s: float = 0.0


class Grant(NamedTuple):
    """A bucket's answer: tokens taken, and seconds until it is full again."""

    took: int
    full_s: float


class Granted(NamedTuple):
    """Grants in the order of the requests, and the remaining pause of the call."""

    grants: Sequence[Grant]
    pause_s: float


class SharedLimits(Protocol):
    """
    Counts for all processes; never waits for longer than 20 ms.

    Attributes:
        processes: Number of live processes; each takes its part while the shared store is away.
        serving: How many of those answer requests.
    """

    processes: int
    serving: int

    @property
    def away(self) -> bool:
        """Whether the server is unavailable at the moment; calls return None at once."""
        ...

    async def take(self, asks: Sequence[Ask], pause: str = "") -> Granted | None:
        """Take tokens, and read the pause of that name; None without an answer in time."""
        ...

    def give_back(self, asks: Sequence[Ask]) -> None:
        """Take and give back without waiting for an answer."""
        ...

    def pause(self, name: str, seconds: float) -> None:
        """Begin a pause, or set the end of one under way; waits for nothing."""
        ...

    async def count_failure(
        self, keys: Sequence[str], window_s: float, limits: Sequence[Sequence[int]]
    ) -> Sequence[Sequence[float]] | None:
        """
        Count a failure under each key.

        Returns:
            For each limit of each key, the seconds until at most so many failures lie within
            the window; None without an answer in time.
        """
        ...

    async def close(self) -> None:
        """Cancel calls under way."""
        ...
