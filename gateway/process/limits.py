"""
Limits shared by all processes, in Redis or Valkey; ``SharedLimits`` (decision 44).

Concurrent commands share a pipeline, and one pipeline is under way at a time. After a time-out or
an error callers stop waiting, and a single call finds out whether the server is back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import RedisError

from gateway.core.limits import PATIENCE_S, Ask, Grant, Granted
from gateway.telemetry.ports import Count, Event

_READING_S: Final = 0.002
"""Of that, for reading an answer that came while the loop was busy."""
_AGAIN_S: Final = 0.4
"""Between two calls that find out whether the server is back: less than three a second."""
_MICROS: Final = 1_000_000
_DIGEST_BYTES: Final = 16
_FAILURES: Final = (RedisError, OSError, TimeoutError)

# GCRA: a bucket is the instant at which it is full again, by the server's clock in microseconds.
# The server's own clock, since those of several machines differ. Where that was put back, a bucket
# is a minute further from full than empty at most.
_TAKE: Final = """
local t = redis.call('TIME')
local now, granted = t[1] * 1000000 + t[2], {}
for n, key in ipairs(KEYS) do
  local step, room, want, back, debt = unpack(ARGV, 5 * n - 4, 5 * n)
  local before = math.min(math.max(now, tonumber(redis.call('GET', key) or now)), now + room + 6e7)
  local full = math.max(now, before - back * step)
  full = math.min(full, math.max(before, now + room + debt))
  local took = math.max(0, math.min(want, math.floor((now + room - full) / step + 0.001)))
  full = full + took * step
  if full > now then
    redis.call('SET', key, string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
  else redis.call('DEL', key) end
  granted[2 * n - 1], granted[2 * n] = took, full - now
end
return granted
"""
# A moving window: a list of instants, oldest first, as long as the largest limit needs.
_FAILED: Final = """
local t = redis.call('TIME')
local now, window, waits, at = t[1] * 1000000 + t[2], tonumber(ARGV[1]), {}, 2
for n, key in ipairs(KEYS) do
  local limits = tonumber(ARGV[at])
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIRE', key, math.ceil(window / 1000))
  for each = at + 1, at + limits do
    local over = redis.call('LINDEX', key, -ARGV[each] - 1)
    waits[#waits + 1] = over and math.max(0, over + window - now) or 0
  end
  redis.call('LTRIM', key, -ARGV[at + limits] - 1, -1)
  at = at + limits + 1
end
return waits
"""


class _Command(NamedTuple):
    """A command, its caller's future if any, and its start by the loop's clock."""

    words: Sequence[object]
    answer: asyncio.Future[Any] | None
    since: float


@dataclass(slots=True, kw_only=True)
class ValkeyLimits:
    """
    Counts in the server of ``remote``, whose owner closes it.

    Attributes:
        namespace: What every key begins with.
        secret: Key of the digests in keys; without it addresses could be found by brute force.
        count: Counts pipelines by how they ended.
        patience_s: Seconds that callers wait for an answer.
    """

    remote: Redis
    namespace: str
    secret: bytes
    count: Count
    processes: int = 1
    serving: int = 1
    patience_s: float = PATIENCE_S
    _queue: list[_Command] = field(default_factory=list, init=False)
    _flight: asyncio.Task[None] | None = field(default=None, init=False)
    _under_way: Sequence[_Command] = field(default=(), init=False)
    _again_at: float | None = field(default=None, init=False)

    @property
    def away(self) -> bool:
        """Whether the last call failed, and no other call is due or one is under way."""
        if self._again_at is None:
            return False
        return self._flight is not None or asyncio.get_running_loop().time() < self._again_at

    async def take(self, asks: Sequence[Ask], pause: str = "") -> Granted | None:
        """Take tokens, and read the pause of that name; None without an answer in time."""
        commands = [*self._takes(asks), *([("PTTL", self._at("pause", pause))] if pause else ())]
        answers = await self._ask(commands)
        if answers is None:
            return None
        pause_ms = answers.pop() if pause else 0
        numbers = iter(answers[0]) if asks else iter(())
        grants = [Grant(took, micros / _MICROS) for took, micros in zip(numbers, numbers)]  # noqa: B905 - pairs of one iterator
        return Granted(grants, max(0, pause_ms) / 1000)

    def give_back(self, asks: Sequence[Ask]) -> None:
        """Take and give back without waiting for an answer."""
        self._send(self._takes(asks))

    def pause(self, name: str, seconds: float) -> None:
        """Begin a pause, or set the end of one under way; waits for nothing."""
        self._send([("SET", self._at("pause", name), 1, "PX", max(1, int(seconds * 1000)))])

    async def count_failure(
        self, keys: Sequence[str], window_s: float, limits: Sequence[Sequence[int]]
    ) -> Sequence[Sequence[float]] | None:
        """Count a failure under each key; the limits of a key ascend."""
        given: list[object] = [int(window_s * _MICROS)]
        for each in limits:
            given += (len(each), *each)
        places = [self._at("failed", key) for key in keys]
        answers = await self._ask([("EVAL", _FAILED, len(places), *places, *given)])
        if answers is None:
            return None
        waits = iter(answers[0])
        return [[next(waits) / _MICROS for _ in each] for each in limits]

    async def close(self) -> None:
        """Cancel the call under way."""
        if self._flight is not None:
            self._flight.cancel()
            await asyncio.wait([self._flight])

    def _takes(self, asks: Sequence[Ask]) -> Iterator[Sequence[object]]:
        if asks:
            keys = [self._at("bucket", each.key) for each in asks]
            given: list[object] = []
            for each in asks:
                times = (each.step_s, each.room_s, each.debt_s)
                step, room, debt = (seconds * _MICROS for seconds in times)
                given += (step, room, each.want, each.back, debt)
            yield ("EVAL", _TAKE, len(keys), *keys, *given)

    def _at(self, kind: str, name: str) -> str:
        """Return the key of the server for a name."""
        digest = blake2b(
            name.encode(errors="surrogatepass"), key=self.secret, digest_size=_DIGEST_BYTES
        )
        return f"{self.namespace}:{kind}:{digest.hexdigest()}"

    async def _ask(self, commands: Sequence[Sequence[object]]) -> list[Any] | None:
        """Send commands; None if any was not answered in time."""
        if self.away:
            return None
        waited = [asyncio.get_running_loop().create_future() for _ in commands]
        self._send(commands, waited)
        answers = [await each for each in waited]
        return None if None in answers else answers

    def _send(
        self,
        commands: Iterator[Sequence[object]] | Sequence[Sequence[object]],
        waited: Sequence[asyncio.Future[Any]] = (),
    ) -> None:
        """Queue commands, unless the server is unavailable at the moment."""
        if self.away:
            return
        now = asyncio.get_running_loop().time()
        for number, words in enumerate(commands):
            self._queue.append(_Command(words, waited[number] if waited else None, now))
        if self._flight is None and self._queue:
            self._flight = asyncio.create_task(self._fly())  # noqa: TID251 - ended by `close`

    async def _fly(self) -> None:
        """Send what is queued, one pipeline after the other, until nothing is."""
        try:
            while self._queue:
                batch, self._queue = self._queue, []
                await self._exchange(batch)
        finally:
            self._flight = None
            self._release(self._queue)

    async def _exchange(self, batch: Sequence[_Command]) -> None:
        """Send one pipeline; callers time out on their own, and the call goes on."""
        late = asyncio.get_running_loop().call_at(
            batch[0].since + self.patience_s - _READING_S, self._wait_no_more, batch
        )
        self._under_way = batch
        pipeline = self.remote.pipeline(transaction=False)
        for each in batch:
            pipeline.execute_command(*each.words)
        try:
            answers = await pipeline.execute(raise_on_error=False)
            if any(isinstance(each, Exception) for each in answers):
                self._fail(batch, "failed")
            elif batch is self._under_way:
                self._again_at = None
                self.count(Event.SHARED_LIMITS, "answered")
                for each, answer in zip(batch, answers, strict=True):
                    _give(each, answer)
        except _FAILURES:  # never logged: it may quote an address
            self._fail(batch, "failed")
        finally:
            late.cancel()
            self._under_way = ()
            self._release(batch)

    def _wait_no_more(self, batch: Sequence[_Command]) -> None:
        """Time out the callers in a moment: if the loop was late, the answer may be here."""
        asyncio.get_running_loop().call_later(_READING_S, self._fail, batch, "late")

    def _fail(self, batch: Sequence[_Command], how: str) -> None:
        """Fail all waiting callers, and later calls for a while; once for each batch."""
        if batch is not self._under_way:
            return
        self._under_way = ()
        self._again_at = asyncio.get_running_loop().time() + _AGAIN_S
        self.count(Event.SHARED_LIMITS, how)
        self._release(batch)
        self._release(self._queue)
        self._queue = []

    def _release(self, commands: Sequence[_Command]) -> None:
        for each in commands:
            _give(each, None)


def _give(command: _Command, answer: object) -> None:
    """Resolve a caller's future; None without an answer."""
    if command.answer is not None and not command.answer.done():
        command.answer.set_result(answer)
