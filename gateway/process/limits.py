"""
Limits shared by all processes, in Redis or Valkey; ``SharedLimits`` (decisions 44 and 67).

Concurrent calls share a pipeline, and one pipeline is under way at a time. While it is late, and
for a moment after that or after an error, nothing else is sent: a single call finds out whether
the server is back.

Each script has one key, so that a Cluster can keep each bucket wherever it likes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, NamedTuple

from gateway.core.cache import CacheUnavailable
from gateway.core.limits import LATELY_S, PATIENCE_S, Ask, Grant, Granted
from gateway.process.redis_client import FAILURES, Remote, sentence
from gateway.telemetry.ports import Count, Event

_TICKS: Final = 10
"""
Turns of the loop in which a call becomes late, each at least a tenth of the patience long.

A process that stands still for a second counts it as one of them, and reads the answer that came
meanwhile: the server is not blamed for a busy host.
"""
_AGAIN_S: Final = 0.4
"""Between two calls that find out whether the server is back: less than three a second."""
_MICROS: Final = 1_000_000
_MILLIS: Final = 1000
_DIGEST_BYTES: Final = 16
_PROBES: Final = 32
"""Keys of a probe: were they counted in a Cluster of two, all would be in one with luck alone."""

# GCRA: a bucket is the instant at which it is full again, by the server's clock in microseconds.
# The server's own clock, since those of several machines differ. Where that was put back, a bucket
# is a minute further from full than empty at most. Behind it stand the tokens that all drew lately,
# and when the last one was drawn; they outlive the moment at which the bucket is full by a minute.
_TAKE: Final = f"""
local t = redis.call('TIME')
local now, key, lately = t[1] * 1000000 + t[2], KEYS[1], {LATELY_S * _MICROS:.0f}
local step, room, want, back, debt = unpack(ARGV)
local value = redis.call('GET', key) or ''
local before, drawn, at = string.match(value, '^(%d+) (%S+) (%d+)$')
before = math.min(math.max(now, before or now), now + room + 6e7)
local full = math.max(now, before - back * step)
full = math.min(full, math.max(before, now + room + debt))
local took = math.max(0, math.min(want, math.floor((now + room - full) / step + 0.001)))
full = full + took * step
drawn = (drawn or 0) * math.exp(math.min(0, (at or now) - now) / lately)
drawn = math.max(0, drawn + took - back)
if full > now or drawn > 0 then
  value = string.format('%.0f %.3f %.0f', full, drawn, now)
  redis.call('SET', key, value, 'PX', math.ceil((full - now + lately) / 1000))
else redis.call('DEL', key) end
return {{took, full - now, math.ceil(drawn * 1000)}}
"""
# A moving window: a list of instants, oldest first, as long as the largest limit needs.
_FAILED: Final = """
local t = redis.call('TIME')
local now, key, window, waits = t[1] * 1000000 + t[2], KEYS[1], tonumber(ARGV[1]), {}
redis.call('RPUSH', key, string.format('%.0f', now))
redis.call('PEXPIRE', key, math.ceil(window / 1000))
for each = 2, #ARGV do
  local over = redis.call('LINDEX', key, -ARGV[each] - 1)
  waits[each - 1] = over and math.max(0, over + window - now) or 0
end
redis.call('LTRIM', key, -ARGV[#ARGV] - 1, -1)
return waits
"""

_Words = Sequence[str | float]


class _Call(NamedTuple):
    """
    Commands whose answers belong together.

    Attributes:
        done: Called once with the answers, or None where none can come any more.
        late: Called before that where the answers are late.
    """

    commands: Sequence[_Words]
    done: Callable[[list[Any] | None], object] | None = None
    late: Callable[[], object] | None = None


@dataclass(slots=True, kw_only=True)
class ValkeyLimits:
    """
    Counts in the server of ``remote``, whose owner closes it.

    Attributes:
        namespace: The prefix of every key.
        secret: Key of the digests in keys; without it addresses could be found by brute force.
        count: Counts pipelines by how they ended.
        patience_s: Seconds after which a pipeline handed to the loop is late.
    """

    remote: Remote
    namespace: str
    secret: bytes
    count: Count
    processes: int = 1
    serving: int = 1
    patience_s: float = PATIENCE_S
    _queue: list[_Call] = field(default_factory=list, init=False)
    _flight: asyncio.Task[None] | None = field(default=None, init=False)
    _waited: Sequence[_Call] = field(default=(), init=False)
    _again_at: float | None = field(default=None, init=False)

    @property
    def away(self) -> bool:
        """Whether the last call failed, and no other call is due or one is under way."""
        if self._again_at is None:
            return False
        return self._flight is not None or asyncio.get_running_loop().time() < self._again_at

    def request(
        self, asks: Sequence[Ask], done: Callable[[Granted | None], None], pause: str = ""
    ) -> None:
        """Take tokens, and read the pause of that name; ``done`` is called once."""
        commands = [
            *map(self._take, asks),
            *([("PTTL", self._at("pause", pause))] if pause else ()),
        ]
        self._send(_Call(commands, partial(_grant, len(asks), done)))

    def give_back(self, asks: Sequence[Ask]) -> None:
        """Take and give back without an answer."""
        self._send(_Call([*map(self._take, asks)]))

    def pause(self, name: str, seconds: float) -> None:
        """Begin a pause, or set the end of one under way; waits for nothing."""
        pause = ("SET", self._at("pause", name), 1, "PX", max(1, int(seconds * _MILLIS)))
        self._send(_Call([pause]))

    async def count_failure(
        self, keys: Sequence[str], window_s: float, limits: Sequence[Sequence[int]]
    ) -> Sequence[Sequence[float]] | None:
        """Count a failure under each key; the limits of a key ascend."""
        answer = asyncio.get_running_loop().create_future()
        give = partial(_resolve, answer)
        given = zip(keys, limits, strict=True)
        commands = [self._failure(key, window_s, each) for key, each in given]
        self._send(_Call(commands, give, partial(give, None)))
        answers = await answer
        return answers and [[wait / _MICROS for wait in waits] for waits in answers]

    async def check(self) -> None:
        """
        Send every command on keys of all of a Cluster's servers.

        Raises:
            CacheUnavailable: one was refused; says how to mend it.
        """
        pipeline = self.remote.pipeline(transaction=False)
        for number in range(_PROBES):
            name = f"probe/{number}"
            pipeline.execute_command(*self._take(Ask(name, step_s=1e-6, room_s=1e-6)))
            pipeline.execute_command(*self._failure(name, 1e-3, [1]))
            pipeline.execute_command("PTTL", self._at("pause", name))
        try:
            for each in await pipeline.execute(raise_on_error=False):
                if isinstance(each, Exception):
                    raise each
        except FAILURES as problem:
            raise CacheUnavailable(sentence(problem)) from problem

    async def close(self) -> None:
        """Cancel the call under way."""
        if self._flight is not None:
            self._flight.cancel()
            await asyncio.wait([self._flight])

    def _take(self, ask: Ask) -> _Words:
        step, room, debt = (each * _MICROS for each in (ask.step_s, ask.room_s, ask.debt_s))
        key = self._at("tokens", ask.key)
        return ("EVAL", _TAKE, 1, key, step, room, ask.want, ask.back, debt)

    def _failure(self, key: str, window_s: float, limits: Sequence[int]) -> _Words:
        return ("EVAL", _FAILED, 1, self._at("failed", key), int(window_s * _MICROS), *limits)

    def _at(self, kind: str, name: str) -> str:
        digest = blake2b(
            name.encode(errors="surrogatepass"), key=self.secret, digest_size=_DIGEST_BYTES
        )
        return f"{self.namespace}:{kind}:{digest.hexdigest()}"

    def _send(self, call: _Call) -> None:
        """Queue a call, unless the server is unavailable at the moment."""
        if self.away:
            _end(call, None)
            return
        self._queue.append(call)
        if self._flight is None:
            self._flight = asyncio.create_task(self._fly())  # noqa: TID251 - ended by `close`

    async def _fly(self) -> None:
        """Send queued calls, one pipeline after the other, until the queue is empty."""
        try:
            while self._queue:
                batch, self._queue = self._queue, []
                await self._exchange(batch)
        finally:
            self._flight = None
            self._drop_queue()

    async def _exchange(self, batch: Sequence[_Call]) -> None:
        """Send one pipeline, and end its calls; late calls end with the answer, too."""
        self._waited = batch
        self._tick(batch, _TICKS)
        pipeline = self.remote.pipeline(transaction=False)
        for call in batch:
            for words in call.commands:
                pipeline.execute_command(*words)
        answers: list[Any] | None = None
        try:
            answers = await pipeline.execute(raise_on_error=False)
            if any(isinstance(each, Exception) for each in answers):
                answers = None
                self._fail(batch, "failed")
            elif batch is self._waited:
                self._again_at = None
                self.count(Event.SHARED_LIMITS, "answered")
        except FAILURES:  # never logged: it may quote an address
            self._fail(batch, "failed")
        finally:
            self._waited = ()
            following = iter(answers or ())
            for call in batch:
                own = [*islice(following, len(call.commands))]
                _end(call, None if answers is None else own)

    def _tick(self, batch: Sequence[_Call], left: int) -> None:
        """Time a call out after enough ticks and one more turn of the loop to read an answer."""
        if batch is not self._waited:
            return
        loop = asyncio.get_running_loop()
        if left:
            loop.call_later(self.patience_s / _TICKS, self._tick, batch, left - 1)
        else:
            loop.call_soon(self._fail, batch, "late")

    def _fail(self, batch: Sequence[_Call], how: str) -> None:
        """End the waits for a batch, and send nothing for a while; once for each batch."""
        if batch is not self._waited:
            return
        self._waited = ()
        self._again_at = asyncio.get_running_loop().time() + _AGAIN_S
        self.count(Event.SHARED_LIMITS, how)
        for call in batch:
            if call.late is not None:
                call.late()
        self._drop_queue()

    def _drop_queue(self) -> None:
        """End the calls that were not sent."""
        queue, self._queue = self._queue, []
        for call in queue:
            _end(call, None)


def _end(call: _Call, answers: list[Any] | None) -> None:
    if call.done is not None:
        call.done(answers)


def _resolve(answer: asyncio.Future[list[Any] | None], answers: list[Any] | None) -> None:
    """Resolve a caller's future, unless the caller has gone or the call was late."""
    if not answer.done():
        answer.set_result(answers)


def _grant(asks: int, done: Callable[[Granted | None], None], answers: list[Any] | None) -> None:
    """Give a caller its answers, as many as asks and a pause if it wanted that."""
    if answers is None:
        done(None)
        return
    grants = [
        Grant(took, micros / _MICROS, millis / _MILLIS) for took, micros, millis in answers[:asks]
    ]
    pause_ms = answers[asks] if len(answers) > asks else 0
    done(Granted(grants, max(0, pause_ms) / _MILLIS))
