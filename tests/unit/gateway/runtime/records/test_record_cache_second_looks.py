"""Nobody is refused by what is kept alone; and strangers cannot make the store work."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.domain.accounts.credentials import SecretDigest
from gateway.domain.backoffice.change_feed import ALWAYS
from gateway.domain.kernel import errors
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.requests.calls import RawRequest
from gateway.runtime.records.record_cache import EVERY_S, Lifetimes, RecordCache, SecondLooks
from gateway.security.secrets import SecretDigester
from policies.authentication.basic import BasicCredentials, RightHeaders, SecretCheck, Stopwatch
from policies.traffic.throttle import FailureLimits, FailureThrottle
from tests.unit.policies.authentication.basic import credential
from tests.unit.refusals import refused
from tests.world.leaping import leaping
from tests.world.people import call
from tests.world.standing import Clock

KNOWN, UNKNOWN = "cli_known", "cli_unknown"
HELD = credential(SecretDigester({"p": b"p" * 32}, "p"))
LIFETIMES = Lifetimes(found_s=60.0, absent_s=60.0, size=100)


@dataclass
class Desk:
    """A store of one record that can be slow or down, and remembers when it was asked for what."""

    record: Any = "old"
    most: int = 100
    is_down: bool = False
    looks: list[tuple[str, float]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()
        self.cache = RecordCache(LIFETIMES, self.begin, lambda _result: None, ALWAYS)
        self.second = SecondLooks(self.cache, time.monotonic, self.most)

    def begin(self, key: str) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self.load(key))

    async def load(self, key: str) -> Any:
        self.looks.append((key, time.monotonic()))
        found = self.record if key == KNOWN else None
        await self.gate.wait()
        if self.is_down:
            raise StoreUnavailable
        return found

    async def refused(self, key: str) -> str | None:
        """Come with a secret that no record has, as the policy does: find, then find again."""
        arrived = time.monotonic()
        await self.cache.find(key)
        return await self.second.after(key, arrived)


@pytest.mark.parametrize("key", [KNOWN, UNKNOWN])
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
@leaping
async def test_a_known_and_an_unknown_id_take_the_same_looks(key: str, *, kept: bool):
    """One begun after each request arrived, the second one half a second after the first."""
    desk = Desk()
    if kept:
        await desk.cache.find(key)
    desk.looks.clear()

    began = time.monotonic()
    await desk.refused(key)
    first = len(desk.looks)
    await desk.refused(key)

    assert first == 1
    assert [looked for looked, _ in desk.looks] == [key] * 2
    assert desk.looks[1][1] - began >= EVERY_S


@leaping
async def test_what_the_store_has_by_now_counts():
    """The secret was rotated in another process after the record was kept."""
    desk = Desk()
    await desk.cache.find(KNOWN)
    desk.record = "rotated"

    found = await desk.refused(KNOWN)

    assert (found, await desk.cache.find(KNOWN)) == ("rotated", "rotated")


@leaping
async def test_a_look_that_began_before_the_request_does_not_count():
    desk = Desk()
    desk.gate.clear()
    first = asyncio.ensure_future(desk.cache.find(KNOWN))
    await asyncio.sleep(0.01)
    desk.record = "rotated"

    late = asyncio.ensure_future(desk.refused(KNOWN))
    await asyncio.sleep(0)
    desk.gate.set()

    assert (await first, await late) == ("old", "rotated")


@pytest.mark.parametrize("key", [KNOWN, UNKNOWN])
@leaping
async def test_a_strangers_loop_causes_two_looks_a_second(key: str):
    """However many come: they share the look that begins after them."""
    desk = Desk()
    await desk.cache.find(key)
    desk.looks.clear()
    began = time.monotonic()

    async def stranger() -> int:
        tries = 0
        while time.monotonic() - began < 1.2:
            arrived, seen = time.monotonic(), len(desk.looks)
            await desk.second.after(key, arrived)
            assert any(at >= arrived for _, at in desk.looks[seen:])
            tries += 1
        return tries

    tries = sum(await asyncio.gather(*(stranger() for _ in range(30))))

    assert tries > 60
    assert len(desk.looks) <= 1 + 2 * (time.monotonic() - began)


@leaping
async def test_a_strangers_loop_leaves_what_is_kept_at_hand():
    """The partner behind the id does not wait."""
    desk = Desk()
    await desk.cache.find(KNOWN)
    desk.gate.clear()
    waiting = asyncio.ensure_future(desk.refused(KNOWN))
    await asyncio.sleep(0.01)

    meanwhile = desk.cache.find(KNOWN)
    desk.gate.set()
    await waiting

    assert getattr(meanwhile, "value", None) == "old"


@pytest.mark.parametrize("key", [KNOWN, UNKNOWN])
@leaping
async def test_a_store_that_is_down_cannot_tell(key: str):
    """All who wait are told; the next look comes no sooner."""
    desk = Desk()
    await desk.cache.find(key)
    desk.is_down = True
    desk.looks.clear()

    told = await asyncio.gather(*(desk.refused(key) for _ in range(5)), return_exceptions=True)

    assert [type(each) for each in told] == [StoreUnavailable] * 5
    assert len(desk.looks) == 1


@pytest.mark.parametrize("key", [KNOWN, UNKNOWN, "cli_never_asked_for"])
@leaping
async def test_so_many_wait_and_no_more(key: str):
    """Whoever comes then is told to come again, whichever id it is: not that it is wrong."""
    desk = Desk(most=3)
    for each in (KNOWN, UNKNOWN):
        await desk.cache.find(each)
    desk.gate.clear()
    waiting = [asyncio.ensure_future(desk.second.after(KNOWN, time.monotonic())) for _ in range(3)]
    await asyncio.sleep(0.01)

    with refused(errors.OVERLOADED) as refusal:
        await desk.second.after(key, time.monotonic())
    desk.gate.set()

    assert refusal.value.headers == {"Retry-After": "1"}
    assert await asyncio.gather(*waiting) == ["old"] * 3
    assert await desk.refused(UNKNOWN) is None


@leaping
async def test_one_that_gives_up_stops_nobody_else():
    desk = Desk()
    await desk.cache.find(KNOWN)
    first, second = (asyncio.ensure_future(desk.refused(KNOWN)) for _ in range(2))
    await asyncio.sleep(0)

    first.cancel()

    assert await second == "old"


@dataclass
class Watched:
    """The policy over a desk, with every comparison and every look of a request counted."""

    desk: Desk = field(default_factory=Desk)
    compared: int = 0

    def __post_init__(self) -> None:
        limits = FailureLimits(
            per_address=9999, per_address_and_client=9999, hard_per_address=9999, window_s=60
        )
        self.policy = BasicCredentials(
            find=self.desk.cache.find,  # type: ignore[arg-type] # records are texts here
            find_again=self.desk.second.after,  # type: ignore[arg-type] # (same reason)
            check=SecretCheck(
                well_formed=lambda _secret: True,
                digests=lambda _secret: {},
                matching=self.matching,
                used=lambda _id, _digest: None,
            ),
            known=RightHeaders(b"k"),
            throttle=FailureThrottle(limits, time.monotonic),
            now=Clock().now,
            stopwatch=Stopwatch(time.monotonic, lambda _took: None),
        )

    def matching(self, _made: Mapping[str, bytes], _stored: Sequence[SecretDigest]) -> None:
        self.compared += 1

    async def tried(self, key: str) -> tuple[int, int, bool]:
        """Try a wrong secret; return the looks, the comparisons, and whether it had to wait."""
        self.desk.looks.clear()
        self.compared = 0
        header = f"Basic {base64.b64encode(f'{key}:wrong'.encode()).decode()}"
        began = time.monotonic()
        with refused(errors.CREDENTIALS_INVALID):
            waiting = self.policy(call(RawRequest(path={}, authorization=(header,), address="a")))
            assert waiting is not None
            await waiting
        assert [asked for asked, _ in self.desk.looks] == [key]
        return len(self.desk.looks), self.compared, self.desk.looks[0][1] - began > EVERY_S / 2


@pytest.mark.parametrize("kept", [True, False], ids=["in use", "not in use"])
@leaping
async def test_no_duration_tells_whether_an_id_exists(*, kept: bool):
    """The same looks, comparisons and waits, try for try; the first one never waits."""
    ways = {}
    for key in (KNOWN, UNKNOWN):
        door = Watched(Desk(record=HELD))
        if kept and key == KNOWN:
            await door.desk.cache.find(key)
        ways[key] = [await door.tried(key) for _ in range(3)]

    assert ways[KNOWN] == ways[UNKNOWN] == [(1, 2, False), (1, 2, True), (1, 2, True)]


@leaping
async def test_ids_that_were_tried_are_remembered_for_half_a_second_alone():
    desk = Desk()
    for number in range(300):
        await desk.refused(f"guess-{number}")
    assert len(desk.second._looked) <= 300

    await asyncio.sleep(EVERY_S)
    await desk.refused("the last")

    assert len(desk.second._looked) == 1
    assert desk.second._coming == {}
