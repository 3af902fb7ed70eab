"""
Limits: token buckets and moving windows, of one process or counted by all together.

``SharedLimits`` is the port to the shared counters. While they do not answer, each process
uses its share of each bucket, and lets few failures through (decision 67).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from math import ceil, exp
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
        """Begin with full buckets; debts are kept for ``longest_debt_s`` at most."""
        self.clock = clock
        self._longest_debt_s = longest_debt_s
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._step = 0.0
        self.change(rate)

    def change(self, rate: CallRate) -> None:
        """Use buckets of another rate from now on; each lacks as many tokens as before."""
        self.rate = rate
        now, before, self._step = self.clock(), self._step, 1 / rate.rate
        for key, full_at in self._full_at.items():
            self._full_at[key] = now + max(0.0, full_at - now) * self._step / before
        self._capacity = rate.burst * self._step
        # A rounding error of a sum must not cost a whole token.
        self._slack = min(self._step, 1.0) / 1000

    def wait_s(self, key: str, parts: float = 1.0) -> float:
        """
        Return the seconds until ``key`` has a token; 0 when it has one.

        Here as below, only one of ``parts`` parts of rate and burst is used, but at least 1 token.
        """
        now, step = self.clock(), self._step * parts
        capacity = max(self._capacity, step)
        over = max(now, self._full_at.get(key, now)) - now + step - capacity
        return over if over > self._slack else 0.0

    def draw(self, key: str, parts: float = 1.0) -> Draw:
        """Take one token of ``key`` if there is one."""
        now, step = self.clock(), self._step * parts
        capacity = max(self._capacity, step)
        full_at = max(now, self._full_at.get(key, now)) + step
        over = full_at - now - capacity
        if over > self._slack:
            return Draw(False, 0, over)  # noqa: FBT003 - the field's name stands in the class
        keep(self._full_at, key, full_at)
        return Draw(True, round(-over / step) if over < 0 else 0, 0.0)  # noqa: FBT003

    def take(self, key: str, tokens: int, parts: float = 1.0) -> float:
        """Take several tokens of ``key``, all or none; 0, or the seconds until they are there."""
        now, step = self.clock(), self._step * parts
        capacity = max(self._capacity, step)
        full_at = max(now, self._full_at.get(key, now)) + tokens * step
        wait_s = full_at - now - capacity
        if wait_s > self._slack:
            return wait_s
        keep(self._full_at, key, full_at)
        return 0.0

    def charge(self, key: str, parts: float = 1.0) -> float:
        """Take one token, owed where there is none; return the seconds until it is there."""
        now, step = self.clock(), self._step * parts
        capacity = max(self._capacity, step)
        full_at = max(now, self._full_at.get(key, now)) + step
        keep(self._full_at, key, min(full_at, now + capacity + self._longest_debt_s))
        over = full_at - now - capacity
        return over if over > self._slack else 0.0

    def give_back(self, key: str, tokens: float = 1) -> None:
        """Put tokens back that were taken from ``key``."""
        full_at = self._full_at.get(key)
        if full_at is not None:
            self._full_at[key] = full_at - tokens * self._step

    put_back = give_back

    def fill_in(self, key: str, seconds: float) -> None:
        """Let ``key`` be full again in the given seconds."""
        keep(self._full_at, key, self.clock() + seconds)


class MovingWindow:
    """
    Events of the last ``window_s`` seconds, by key.

    Each process counts its own. Where ``shared`` counts for all, each event is sent to it, and
    its answer holds here until then: ``wait_s`` makes no call.

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
        # events that the count of all processes may lack, since no answer came in time
        self._uncounted: OrderedDict[str, deque[float]] = OrderedDict()

    def add(self, key: str) -> None:
        """Count an event of this process."""
        self._append(self.times, key)

    async def add_for_all(self, limits: Mapping[str, Sequence[int]]) -> None:
        """Count an event under each key, here and in all processes; its limits ascend."""
        for key in limits:
            self.add(key)
        if self._shared is None:
            return
        keys, counted = list(limits), list(limits.values())
        waits = await self._shared.count_failure(keys, self._window_s, counted)
        if waits is None:
            for key in keys:
                self._append(self._uncounted, key)
            return
        now = self._clock()
        for key, most, waited in zip(keys, counted, waits, strict=True):
            for limit, wait_s in zip(most, waited, strict=True):
                if wait_s > 0:
                    keep(self._exceeded, (key, limit), now + wait_s)

    def wait_s(self, key: str, limit: int) -> float:
        """Return the seconds until at most ``limit`` events lie in the window; 0 when so now."""
        if key not in self.times:
            return 0.0
        now = self._clock()
        own_s = self._own_s(self.times, key, limit)
        return max(own_s, self._exceeded.get((key, limit), now) - now, 0.0)

    def strict_wait_s(self, key: str, limit: int) -> float:
        """
        Return ``wait_s``, or longer where events were not counted for all processes in time.

        Each process lets its part of half the limit through uncounted, and one at least: so all
        together let through one and a half times the limit.
        """
        wait_s = self.wait_s(key, limit)
        if self._shared is None or key not in self._uncounted:
            return wait_s
        part = max(1, limit // (2 * self._shared.serving))
        return max(wait_s, self._own_s(self._uncounted, key, part))

    def _append(self, events: OrderedDict[str, deque[float]], key: str) -> None:
        times = events.get(key) or deque(maxlen=self._most + 1)
        times.append(self._clock())
        keep(events, key, times)

    def _own_s(self, events: OrderedDict[str, deque[float]], key: str, limit: int) -> float:
        """Return ``wait_s`` of this process's events alone; those before the window are dropped."""
        times, horizon = events[key], self._clock() - self._window_s
        while times and times[0] <= horizon:
            times.popleft()
        if not times:
            del events[key]
        return times[-limit - 1] - horizon if len(times) > limit else 0.0


PATIENCE_S: Final = 0.020
"""
No request waits for longer, but those whose credential was refused while this process is busy.

A server on the same network answers in one or two.
"""
LATELY_S: Final = 60.0
"""
How long a process's share of a bucket holds after its last answer, while others answer.

Tokens that were drawn so long ago count a third for it.
"""
_EMPTY_S: Final = 0.1
"""
An empty bucket of our own begins to fill so much later than the common one, which forgets what it
is owed while it is empty: what comes into it until the next ask must not be given by both.
"""


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
    """
    A bucket's answer.

    Attributes:
        took: Tokens taken.
        full_s: Seconds until the bucket is full again.
        drawn: Tokens that all processes drew lately, these included; old ones count less
            (``LATELY_S``).
    """

    took: int
    full_s: float
    drawn: float


class Granted(NamedTuple):
    """Grants in the order of the requests, and the remaining pause of the call."""

    grants: Sequence[Grant]
    pause_s: float


class SharedLimits(Protocol):
    """
    Counts for all processes.

    Attributes:
        processes: Number of live processes, so that each can take its part without shared counters.
        serving: Number of these processes that answer requests.
    """

    processes: int
    serving: int

    @property
    def away(self) -> bool:
        """Whether the server is unavailable at the moment: nothing is sent to it."""
        ...

    def request(
        self, asks: Sequence[Ask], done: Callable[[Granted | None], None], pause: str = ""
    ) -> None:
        """
        Take tokens, and read the pause of that name.

        ``done`` is called once, also with an answer that is late; with None where none can come
        any more, and it is unknown whether the tokens were taken.
        """
        ...

    def give_back(self, asks: Sequence[Ask]) -> None:
        """Take and give back without an answer."""
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


class _Standing(msgspec.Struct):
    """
    This process's state of one common bucket.

    Attributes:
        owed: Tokens drawn from our own bucket, not yet reported to the common one; below 0 for
            unspent tokens of the common one.
        drawn: Tokens that this process drew lately from the common one, at ``at``.
        total: Tokens that all drew lately, at the same instant.
        at: When the common bucket answered last.
        share: This process's share while it goes by its own bucket; 0 while the common one answers.
    """

    owed: int = 0
    drawn: float = 0.0
    total: float = 0.0
    at: float = 0.0
    share: float = 0.0


class SharedBuckets:
    """
    Token buckets of one rate that all processes draw from, and this process's own.

    The own ones serve without shared counters, and tokens given then are owed to the common
    bucket. Their rate and burst are this process's share of all recent draws from that bucket:
    all of it for a caller who comes here alone. Where that is less, or unknown, they are divided
    by the live processes.
    """

    def __init__(
        self, name: str, own: Buckets, processes: Callable[[], int], longest_wait_s: float = 0.0
    ) -> None:
        """
        Begin with full buckets.

        Args:
            name: Names the buckets of this rate.
            own: Of the whole rate.
            processes: Returns the number of live processes that draw from them.
            longest_wait_s: A caller may take a token that comes within this time, and wait.
        """
        self._name = name
        self._own = own
        self._processes = processes
        self._longest_wait_s = longest_wait_s
        self._standings: OrderedDict[str, _Standing] = OrderedDict()

    def change(self, rate: CallRate) -> None:
        """Draw from buckets of another rate from now on; the common ones are full."""
        self._own.change(rate)
        for standing in self._standings.values():
            standing.owed = 0

    @property
    def rate(self) -> CallRate:
        """The rate of all processes together."""
        return self._own.rate

    def draw(self, key: str) -> Draw:
        """Take one token of our own bucket, and owe it."""
        parts = self._parts(key)
        draw = self._own.draw(key, parts)
        if draw.allowed:
            self.owe(key, ceil(self.rate.burst / parts))
        return draw

    def take(self, key: str, tokens: int) -> float:
        """Take tokens of our own bucket and owe them, all or none; 0, or the seconds until then."""
        wait_s = self._own.take(key, tokens, self._parts(key))
        if not wait_s:
            self.owe(key, self.rate.burst, tokens)
        return wait_s

    def charge(self, key: str) -> None:
        """Take one token of our own bucket, lacking there where there is none."""
        self._own.charge(key, self._parts(key))

    def wait_s(self, key: str) -> float:
        """Return the seconds until our own bucket has a token."""
        return self._own.wait_s(key, self._parts(key))

    def give_back(self, key: str) -> None:
        """Put one token back into our own bucket."""
        self._own.give_back(key, self._parts(key))

    def owe(self, key: str, most: int, tokens: int = 1) -> None:
        """Owe the common bucket tokens that our own gave, up to ``most``."""
        standing = self._standing(key)
        if tokens > 0 and standing.owed < most:
            standing.owed = min(standing.owed + tokens, most)

    def repay(self, key: str) -> bool:
        """Owe one token less; False where none is owed."""
        standing = self._standings.get(key)
        if standing is None or standing.owed <= 0:
            return False
        standing.owed -= 1
        return True

    def credit(self, key: str, tokens: int) -> None:
        """Return unspent tokens: the debt shrinks, and may be below 0."""
        self._standing(key).owed -= tokens

    def ask(self, key: str, want: int, back: int = 0, debt_s: float = 0.0) -> Ask:
        """Return a request to the common bucket; a request for tokens also reports the debt."""
        if want and (standing := self._standings.get(key)) is not None:
            back, standing.owed = back - standing.owed, 0
        rate = self.rate
        step_s = 1 / rate.rate
        # another rate has other buckets: nobody waits for one that is not in force any more
        place = f"{self._name}/{rate.rate}/{rate.burst}/{key}"
        room_s = rate.burst * step_s + self._longest_wait_s
        return Ask(place, step_s, room_s, want, back, debt_s)

    def answered(self, key: str, ask: Ask, grant: Grant) -> None:
        """Store the common bucket's answer: its level for our own bucket, and our share."""
        standing, now = self._standing(key), self._own.clock()
        drawn = standing.drawn * exp((standing.at - now) / LATELY_S) + grant.took - ask.back
        # more than all drew: the server lost its count
        standing.drawn = max(0.0, min(drawn, grant.drawn))
        standing.total, standing.at, standing.share = grant.drawn, now, 0.0
        is_empty = grant.took < ask.want
        self._own.fill_in(key, grant.full_s + (_EMPTY_S if is_empty else 0.0))

    def _parts(self, key: str) -> float:
        """Return 1 / (this process's share of a bucket)."""
        standing, processes = self._standings.get(key), self._processes()
        if standing is None or not standing.drawn:
            return processes
        if not standing.share:
            if self._own.clock() > standing.at + LATELY_S:
                return processes
            standing.share = standing.drawn / standing.total
        return min(processes, 1 / standing.share)

    def _standing(self, key: str) -> _Standing:
        standing = self._standings.get(key) or _Standing()
        keep(self._standings, key, standing)
        return standing


async def take_in_time(
    shared: SharedLimits,
    draws: Sequence[tuple[SharedBuckets, str]],
    tokens: int = 1,
    debt_s: Callable[[CallRate], float] = lambda rate: rate.burst / rate.rate,
    pause: str = "",
) -> tuple[Sequence[Ask], Granted] | None:
    """
    Take tokens of common buckets; None without an answer within 20 ms.

    Tokens granted later pay our own buckets' debts, or are returned with the next request.
    """
    asks = [buckets.ask(key, tokens, debt_s=debt_s(buckets.rate)) for buckets, key in draws]
    answer: asyncio.Future[Granted | None] = asyncio.get_running_loop().create_future()

    def done(granted: Granted | None) -> None:
        for number, ((buckets, key), ask) in enumerate(zip(draws, asks, strict=True)):
            if granted is None:
                buckets.owe(key, buckets.rate.burst, -ask.back)
                continue
            grant = granted.grants[number]
            buckets.answered(key, ask, grant)
            if answer.done():
                buckets.credit(key, grant.took)
        if not answer.done():
            answer.set_result(granted)

    shared.request(asks, done, pause)
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            await answer
    granted = None if answer.cancelled() else answer.result()
    return None if granted is None else (asks, granted)
