"""
Limits: token buckets and moving windows, of one process or counted by all together.

``SharedLimits`` is the port to what all processes count. While nobody answers there, each
goes by its own: buckets of the rate divided by the live processes, windows up to the whole limit.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Annotated, Final, NamedTuple, Protocol, TypeVar

import msgspec

from gateway.core.clocks import Monotonic

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
# Made-up callers cannot fill the memory; one whose bucket is dropped starts with a full one.
_KEYS_KEPT = 10_000
LONGEST_DEBT_S: Final = 60.0
"""Long enough that a burst of long statements is paid off, and no caller waits for longer."""


def keep(kept: OrderedDict[Key, Value], key: Key, value: Value) -> None:
    """Keep a value as the newest; the oldest of more than 10,000 is dropped."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _KEYS_KEPT:
        kept.popitem(last=False)


class CallRate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A token bucket.

    Attributes:
        rate: Calls per second, sustained.
        burst: Calls at once after a pause.
    """

    rate: Annotated[float, msgspec.Meta(gt=0, le=1_000_000)]
    burst: Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]


class Draw(msgspec.Struct, frozen=True):
    """Result of a draw: admitted or not, tokens left, seconds until the next token."""

    allowed: bool
    remaining: int
    wait_s: float


class Buckets:
    """
    Token buckets of one rate by key, in memory and per process.

    Each is one number: the instant at which it would be full again.
    """

    def __init__(
        self, rate: CallRate, clock: Monotonic, longest_debt_s: float = LONGEST_DEBT_S
    ) -> None:
        """Begin with full buckets; what is charged is owed for ``longest_debt_s`` at most."""
        self._clock = clock
        self._longest_debt_s = longest_debt_s
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._step = 0.0
        self._parts = 1
        self.change(rate)

    def change(self, rate: CallRate) -> None:
        """Use buckets of another rate from now on; each lacks as many tokens as before."""
        self.rate = rate
        now, before, self._step = self._clock(), self._step, self._parts / rate.rate
        for key, full_at in self._full_at.items():
            self._full_at[key] = now + max(0.0, full_at - now) * self._step / before
        self._capacity = max(1, rate.burst // self._parts) * self._step
        # A rounding error of a sum must not cost a whole token.
        self._slack = min(self._step, 1.0) / 1000

    def divide(self, parts: int) -> None:
        """Give from now on what is one of so many processes' part of rate and burst."""
        if parts != self._parts:
            self._parts = parts
            self.change(self.rate)

    def wait_s(self, key: str) -> float:
        """Return the seconds until ``key`` has a token; 0 when it has one."""
        now = self._clock()
        over = max(now, self._full_at.get(key, now)) - now + self._step - self._capacity
        return over if over > self._slack else 0.0

    def draw(self, key: str) -> Draw:
        """Take one token of ``key`` if there is one."""
        now = self._clock()
        step = self._step
        full_at = max(now, self._full_at.get(key, now)) + step
        over = full_at - now - self._capacity
        if over > self._slack:
            return Draw(False, 0, over)  # noqa: FBT003 - the field's name stands in the class
        keep(self._full_at, key, full_at)
        return Draw(True, round(-over / step) if over < 0 else 0, 0.0)  # noqa: FBT003

    def take(self, key: str, tokens: int) -> float:
        """Take several tokens of ``key``, all or none; 0, or the seconds until they are there."""
        now = self._clock()
        full_at = max(now, self._full_at.get(key, now)) + tokens * self._step
        wait_s = full_at - now - self._capacity
        if wait_s > self._slack:
            return wait_s
        keep(self._full_at, key, full_at)
        return 0.0

    def charge(self, key: str) -> float:
        """Take one token, owed where there is none; return the seconds until it is there."""
        now = self._clock()
        full_at = max(now, self._full_at.get(key, now)) + self._step
        keep(self._full_at, key, min(full_at, now + self._capacity + self._longest_debt_s))
        over = full_at - now - self._capacity
        return over if over > self._slack else 0.0

    def spend(self, key: str, tokens: int) -> None:
        """Take as many tokens of ``key`` as there are; none is owed."""
        now = self._clock()
        full_at = max(now, self._full_at.get(key, now)) + tokens * self._step
        most = max(self._full_at.get(key, now), min(full_at, now + self._capacity))
        keep(self._full_at, key, most)

    def give_back(self, key: str, tokens: int = 1) -> None:
        """Put tokens back that were taken from ``key``."""
        full_at = self._full_at.get(key)
        if full_at is not None:
            self._full_at[key] = full_at - tokens * self._step

    put_back = give_back


class MovingWindow:
    """
    Events of the last ``window_s`` seconds, by key.

    Each process counts its own. Where ``shared`` counts for all, it hears of each event, and what
    it answers holds here until then: ``wait_s`` asks nobody.

    Attributes:
        times: The instants of this process's events, oldest first; empty without any lately.
    """

    def __init__(
        self, window_s: float, most: int, clock: Monotonic, shared: SharedLimits | None = None
    ) -> None:
        """Begin without events; no limit that is asked for is above ``most``."""
        self._window_s = window_s
        self._most = most
        self._clock = clock
        self._shared = shared
        self.times: OrderedDict[str, deque[float]] = OrderedDict()
        # by key and limit, until when it is exceeded in all processes together
        self._exceeded: OrderedDict[tuple[str, int], float] = OrderedDict()

    def add(self, key: str) -> None:
        """Count an event of this process."""
        times = self.times.get(key) or deque(maxlen=self._most + 1)
        times.append(self._clock())
        keep(self.times, key, times)

    async def add_for_all(self, limits: Mapping[str, Sequence[int]]) -> None:
        """Count an event under each key, here and in all processes; its limits ascend."""
        for key in limits:
            self.add(key)
        if self._shared is None:
            return
        keys, counted = list(limits), list(limits.values())
        waits = await self._shared.count_failure(keys, self._window_s, counted)
        now = self._clock()
        for key, most, waited in zip(keys, counted, waits or (), strict=False):
            for limit, wait_s in zip(most, waited, strict=True):
                if wait_s > 0:
                    keep(self._exceeded, (key, limit), now + wait_s)

    def wait_s(self, key: str, limit: int) -> float:
        """Return the seconds until at most ``limit`` events lie in the window; 0 when so now."""
        times, now = self.times.get(key), self._clock()
        if times is None:
            return 0.0
        exceeded_s = self._exceeded.get((key, limit), now) - now
        horizon = now - self._window_s
        while times and times[0] <= horizon:
            times.popleft()
        if not times:
            del self.times[key]
        own_s = times[-limit - 1] - horizon if len(times) > limit else 0.0
        return max(own_s, exceeded_s, 0.0)


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
        processes: How many are alive, so that each can take its part while nobody counts for all.
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
            the window; None when nobody answered in time.
        """
        ...

    async def close(self) -> None:
        """Cancel calls under way."""
        ...


class SharedBuckets:
    """
    Token buckets of one rate that all processes draw from, and this process's own.

    The own ones have the rate and burst divided by the live processes. They serve while nobody
    counts for all, and what they give then is owed to the common bucket.
    """

    def __init__(
        self, name: str, own: Buckets, parts: Callable[[], int], longest_wait_s: float = 0.0
    ) -> None:
        """
        Begin with full buckets.

        Args:
            name: Names them among those of all rates.
            own: Of the whole rate; they are divided here.
            parts: Returns the number of live processes that draw from them.
            longest_wait_s: A caller may take a token that comes within this time, and wait.
        """
        self._name = name
        self._own = own
        self._parts = parts
        self._longest_wait_s = longest_wait_s
        # drawn from our own, which the common ones do not know yet
        self._owed: OrderedDict[str, int] = OrderedDict()

    def change(self, rate: CallRate) -> None:
        """Draw from buckets of another rate from now on; the common ones are full."""
        self._own.change(rate)
        self._owed.clear()

    @property
    def rate(self) -> CallRate:
        """The rate of all processes together."""
        return self._own.rate

    @property
    def own(self) -> Buckets:
        """This process's own buckets, of its part of the rate."""
        self._own.divide(self._parts())
        return self._own

    def owe(self, key: str, most: int, tokens: int = 1) -> None:
        """Owe the common bucket tokens that our own gave, up to ``most``."""
        owed = self._owed.get(key, 0)
        if tokens > 0 and owed < most:
            keep(self._owed, key, min(owed + tokens, most))

    def repay(self, key: str) -> bool:
        """Owe one token less; False where none is owed."""
        owed = self._owed.get(key, 0)
        if owed:
            self._owed[key] = owed - 1
        return owed > 0

    def ask(self, key: str, want: int, back: int = 0, debt_s: float = 0.0) -> Ask:
        """Return an ask of the common bucket; one that wants tokens says what is owed, too."""
        if want:
            back -= self._owed.pop(key, 0)
        rate = self.rate
        step_s = 1 / rate.rate
        # another rate has other buckets: nobody waits for one that is not in force any more
        place = f"{self._name}/{rate.rate}/{rate.burst}/{key}"
        room_s = rate.burst * step_s + self._longest_wait_s
        return Ask(place, step_s, room_s, want, back, debt_s)
