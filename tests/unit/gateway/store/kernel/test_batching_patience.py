"""One timer gives up all that wait for too long, each at its own moment."""

import asyncio
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any

from gateway.store.kernel.batching import Patience
from tests.world.leaping import leaping

ASKER: ContextVar[str] = ContextVar("asker", default="nobody")
WITHIN_S = 2.0


@dataclass
class Guest:
    """One that waits, until it is served or given up."""

    is_served: bool = False
    late_at: float | None = None
    told_in: str = ""

    def is_over(self) -> bool:
        return self.is_served

    def be_late(self) -> None:
        self.late_at = asyncio.get_running_loop().time()
        self.told_in = ASKER.get()


@dataclass
class Host:
    """Somebody's patience, and what the loop's clock said at first."""

    patience: Patience[Guest] = field(
        default_factory=lambda: Patience(WITHIN_S, Guest.is_over, Guest.be_late, copy_context())
    )
    start: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def came(self) -> Guest:
        guest = Guest()
        self.patience.begin(guest)
        return guest

    def late(self, guest: Guest) -> float | None:
        return None if guest.late_at is None else round(guest.late_at - self.start, 1)


@leaping
async def test_each_is_given_up_at_its_own_moment():
    host = Host()

    first = host.came()
    await asyncio.sleep(0.5)
    second, third = host.came(), host.came()
    await asyncio.sleep(1)
    last = host.came()
    await asyncio.sleep(10)

    assert [host.late(each) for each in (first, second, third, last)] == [2.0, 2.5, 2.5, 3.5]
    assert not len(host.patience)


@leaping
async def test_who_is_served_is_not_given_up_nor_remembered_behind_nobody():
    host = Host()

    served, left = host.came(), host.came()
    served.is_served = True
    host.came()
    await asyncio.sleep(10)

    assert host.late(served) is None
    assert host.late(left) == 2.0


@leaping
async def test_those_who_are_served_in_time_are_forgotten():
    """However many come: nothing of them is kept once they are served."""
    host = Host()

    for _ in range(100):
        host.came().is_served = True

    assert len(host.patience) == 1


@leaping
async def test_one_who_comes_after_all_have_left_is_given_up_in_time():
    host = Host()

    host.came().is_served = True
    await asyncio.sleep(1)
    late = host.came()
    await asyncio.sleep(10)

    assert host.late(late) == 3.0


@leaping
async def test_it_gives_up_in_nobody_s_context():
    host = Host()

    ASKER.set("somebody")
    guest = host.came()
    await asyncio.sleep(10)

    assert guest.told_in == "nobody"


@leaping
async def test_after_its_end_nobody_is_given_up():
    host = Host()

    guest = host.came()
    host.patience.close()
    await asyncio.sleep(10)

    assert host.late(guest) is None


@leaping
async def test_there_is_one_timer_for_all():
    host = Host()
    loop: Any = asyncio.get_running_loop()
    before = len(loop._scheduled)

    for _ in range(1_000):
        host.came()

    assert len(loop._scheduled) == before + 1
