"""No wrong secret is refused by a cached record alone, and no answer reveals which ids exist."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import pytest

from gateway.app.kept_records import Lifetimes, RecordCache
from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.change_feed import CacheValidity
from gateway.core.storage import StoreUnavailable
from gateway.security.secrets import SecretDigest, SecretDigester
from policies.authentication.basic import BasicCredentials, RightHeaders, SecretCheck
from policies.authentication.signature import SignedPayout
from policies.traffic.throttle import FailureLimits, FailureThrottle
from tests.unit.policies.authentication.basic import credential
from tests.unit.refusals import refused
from tests.world.leaping import leaping
from tests.world.people import call
from tests.world.standing import Clock
from tests.world.waiting import settle

KNOWN, UNKNOWN = "cli_known", "cli_unknown"
HELD = credential(SecretDigester({"p": b"p" * 32}, "p"))
LIFETIMES = Lifetimes(found_s=60.0, absent_s=60.0, size=100)


@dataclass
class Desk:
    """A store of one record that can be slow or down, and remembers when it was asked for what."""

    record: Any = "old"
    is_down: bool = False
    looks: list[tuple[str, float]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()
        self.cache = RecordCache(
            LIFETIMES, self.load, 60.0, lambda _result: None, CacheValidity(inf)
        )

    async def load(self, keys: Sequence[str]) -> Mapping[str, Any]:
        self.looks += ((key, time.monotonic()) for key in keys)
        found = {KNOWN: self.record}
        await self.gate.wait()
        if self.is_down:
            raise StoreUnavailable
        return found

    async def refused(self, key: str) -> str | None:
        """Come with a secret that no record has, as the policy does: find, then find again."""
        arrived = time.monotonic()
        await self.cache.find(key)
        return await self.cache.find_since(key, arrived)


@leaping
async def test_a_refused_secret_is_checked_against_the_store():
    """The secret was rotated by another process after the record was cached."""
    desk = Desk()
    await desk.cache.find(KNOWN)
    desk.record = "rotated"

    found = await desk.refused(KNOWN)

    assert (found, await desk.cache.find(KNOWN)) == ("rotated", "rotated")


@leaping
async def test_a_read_begun_before_the_refused_request_is_not_used():
    desk = Desk()
    desk.gate.clear()
    first = asyncio.ensure_future(desk.cache.find(KNOWN))
    await asyncio.sleep(0.01)
    desk.record = "rotated"

    late = asyncio.ensure_future(desk.refused(KNOWN))
    await settle()
    desk.gate.set()

    assert (await first, await late) == ("old", "rotated")


@pytest.mark.parametrize("key", [KNOWN, UNKNOWN])
@leaping
async def test_wrong_secrets_for_one_id_are_read_one_after_another(key: str):
    """However many arrive during a read: they share the one that begins after them."""
    desk = Desk()
    await desk.cache.find(key)
    desk.looks.clear()
    desk.gate.clear()
    waiting = []
    for _ in range(30):
        waiting.append(asyncio.ensure_future(desk.refused(key)))
        await asyncio.sleep(0.01)
    arrived = time.monotonic()
    during = len(desk.looks)

    desk.gate.set()
    await asyncio.gather(*waiting)

    assert (during, len(desk.looks)) == (1, 2)
    assert desk.looks[1][1] > arrived


@leaping
async def test_reads_for_wrong_secrets_do_not_delay_cached_records():
    """The partner with that id does not wait."""
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
async def test_an_unavailable_store_fails_every_refused_secret(key: str):
    """Every waiting caller gets the failure."""
    desk = Desk()
    await desk.cache.find(key)
    desk.is_down = True
    desk.looks.clear()

    told = await asyncio.gather(*(desk.refused(key) for _ in range(5)), return_exceptions=True)

    assert [type(each) for each in told] == [StoreUnavailable] * 5
    assert len(desk.looks) == 1


@dataclass
class Watched:
    """The policy over a desk, with every digest, comparison and read of a request counted."""

    desk: Desk = field(default_factory=Desk)
    digested: int = 0
    compared: int = 0

    def __post_init__(self) -> None:
        limits = FailureLimits(
            per_address=9999, per_address_and_client=9999, hard_per_address=9999, window_s=60
        )
        self.policy = BasicCredentials(
            find=self.desk.cache.find,  # type: ignore[arg-type] # records are texts here
            find_again=self.desk.cache.find_since,  # type: ignore[arg-type] # (same reason)
            check=SecretCheck(
                well_formed=lambda _secret: True,
                digests=self.digests,
                matching=self.matching,
                used=lambda _id, _digest: None,
            ),
            known=RightHeaders(b"k" * 32),
            throttle=FailureThrottle(limits, time.monotonic),
            now=Clock().now,
            clock=time.monotonic,
            signature=SignedPayout(Clock().now),
            took=lambda _took: None,
        )

    def digests(self, _secret: str) -> Mapping[str, bytes]:
        self.digested += 1
        return {}

    def matching(self, _made: Mapping[str, bytes], _stored: Sequence[SecretDigest]) -> None:
        self.compared += 1

    async def tried(self, key: str) -> tuple[int, int, int]:
        """Try a wrong secret; return how many reads, digests and comparisons it took."""
        self.desk.looks.clear()
        self.digested = self.compared = 0
        header = f"Basic {base64.b64encode(f'{key}:wrong'.encode()).decode()}"
        with refused(errors.CREDENTIALS_INVALID):
            waiting = self.policy(call(RawRequest(path={}, authorization=(header,), address="a")))
            assert waiting is not None
            await waiting
        assert [asked for asked, _ in self.desk.looks] == [key] * len(self.desk.looks)
        return len(self.desk.looks), self.digested, self.compared


@pytest.mark.parametrize("kept", [True, False], ids=["in use", "not in use"])
@leaping
async def test_the_duration_does_not_reveal_whether_an_id_exists(*, kept: bool):
    """The same reads, digests and comparisons at every attempt."""
    ways = {}
    for key in (KNOWN, UNKNOWN):
        door = Watched(Desk(record=HELD))
        if kept and key == KNOWN:
            await door.desk.cache.find(key)
        ways[key] = [await door.tried(key) for _ in range(3)]

    assert ways[KNOWN] == ways[UNKNOWN] == [(1, 1, 2)] * 3
