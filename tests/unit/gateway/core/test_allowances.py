"""Allowances of people: all tokens or none, of one process or of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gateway.core.allowances import Allowance
from gateway.core.limits import Ask, CallRate, Grant, Granted
from tests.world.exports import allowance


class Shared:
    """Counts for two processes; gives ``gives`` tokens to every ask, None gives no answer."""

    processes = serving = 2
    away = False

    def __init__(self, gives: int | None) -> None:
        self.gives = gives
        self.asked: list[Ask] = []
        self.returned: list[Ask] = []

    def request(
        self, asks: Sequence[Ask], done: Callable[[Granted | None], None], pause: str = ""
    ) -> None:
        self.asked += asks
        if self.gives is None:
            return done(None)
        # as full as the bucket is once these are taken
        return done(Granted([Grant(self.gives, each.room_s, self.gives) for each in asks], 0.0))

    def give_back(self, asks: Sequence[Ask]) -> None:
        self.returned += asks


def shared_by(shared: Shared, burst: int = 10) -> tuple[Allowance, list[str]]:
    counted: list[str] = []
    rate = CallRate(rate=1, burst=burst)
    return Allowance("rows", rate, lambda: 0.0, counted.append, shared), counted  # type: ignore[arg-type]


async def test_tokens_are_taken_all_or_none_and_refill():
    now = [0.0]
    rows = allowance(10, lambda: now[0])

    assert await rows.take("maria", 7) == 0
    assert await rows.take("maria", 5) == 2
    assert await rows.take("maria", 3) == 0
    assert await rows.take("joao", 10) == 0
    now[0] = 5.0
    assert await rows.take("maria", 5) == 0


async def test_a_new_rate_takes_effect_at_once():
    rows = allowance(10)
    assert await rows.take("maria", 10) == 0

    rows.change(CallRate(rate=1, burst=20))

    assert rows.burst == 20
    assert await rows.take("maria", 10) == 0
    assert await rows.take("maria") > 0


async def test_all_processes_share_one_bucket():
    shared = Shared(gives=4)
    rows, counted = shared_by(shared)

    assert await rows.take("maria", 4) == 0

    assert [(each.want, each.room_s) for each in shared.asked] == [(4, 10.0)]
    assert (shared.returned, counted) == ([], ["rows.allowed"])


async def test_tokens_are_returned_when_too_few_were_given():
    shared = Shared(gives=3)
    rows, counted = shared_by(shared)

    assert await rows.take("maria", 4) == 1

    assert [(each.want, each.back) for each in shared.returned] == [(0, 3)]
    assert counted == ["rows.limited"]


async def test_a_process_uses_its_share_without_the_shared_counter():
    """What it grants meanwhile is subtracted from the common bucket later."""
    shared = Shared(gives=None)
    rows, _ = shared_by(shared)

    assert await rows.take("maria", 4) == 0
    assert await rows.take("maria", 4) > 0
    shared.gives = 1
    assert await rows.take("maria", 1) == 0

    assert shared.asked[-1].back == -4
