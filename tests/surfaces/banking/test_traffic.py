"""Too much: quotas, refused credentials, and a process that has enough to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from gateway.config.settings import FailedCredentials, Limits, RateLimits
from gateway.core.limits import CallRate
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import (
    FREE,
    NOBODY,
    World,
    opened,
    order,
    other_secret,
    sandbox,
)
from tests.world.waiting import until

SCARCE = CallRate(rate=0.001, burst=3)
LIMITED = (429, "SVC.GTW.005")


@asynccontextmanager
async def rationed(folder: Path, **rates: CallRate) -> AsyncIterator[World]:
    limits = RateLimits(**{"read": FREE, "payout": FREE, "company": FREE, **rates})
    async with opened(sandbox(folder, ratelimits=limits)) as world:
        yield world


async def balance(world: World, by: str = "full") -> Answer:
    return await world.ask("GET", world.at("/balance"), by=by)


async def test_a_quota_counts_down_and_then_refuses(tmp_path: Path):
    """Per credential; the headers show the rest and when to repeat."""
    async with rationed(tmp_path, read=SCARCE) as world:
        answers = [await balance(world) for _ in range(4)]

    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers["RateLimit"] for answer in answers[:3]] == [
        '"read";r=2;t=1000',
        '"read";r=1;t=1000',
        '"read";r=0;t=1000',
    ]
    assert answers[3].verdict == LIMITED
    assert answers[3].headers["RateLimit-Policy"] == '"read";q=3;w=3000'
    assert 990 <= int(answers[3].headers["Retry-After"]) <= 1000


async def test_a_company_has_one_quota_for_all_its_credentials(tmp_path: Path):
    """And another company has its own."""
    async with rationed(tmp_path, company=SCARCE) as world:
        ours = [await balance(world, by=role) for role in ("full", "company", "full", "company")]
        path = world.at("/balance", "other_company")
        theirs = await world.ask("GET", path, by="other_company")

    assert [answer.status for answer in ours] == [200, 200, 200, 429]
    assert theirs.status == 200


async def test_a_quota_is_used_before_the_permission_and_after_the_secret(tmp_path: Path):
    """A call refused for its permission costs a token; one with a wrong secret does not."""
    async with rationed(tmp_path, read=SCARCE) as world:
        strangers = [
            await world.ask("GET", world.at("/balance"), pair=other_secret(world.pair("none")))
            for _ in range(5)
        ]
        denied = [await balance(world, by="none") for _ in range(4)]

    assert {answer.status for answer in strangers} == {401}
    assert [answer.status for answer in denied] == [403, 403, 403, 429]


@asynccontextmanager
async def throttled(folder: Path, **limits: float) -> AsyncIterator[World]:
    failed = FailedCredentials(**limits)  # type: ignore[arg-type]
    settings = sandbox(folder, limits=Limits(loop_lag_s=3_600, failed_credentials=failed))
    async with opened(settings) as world:
        yield world


async def wrong(world: World, role: str = "full") -> Answer:
    return await world.ask("GET", world.at("/balance"), pair=other_secret(world.pair(role)))


async def test_an_address_with_too_many_failures_is_throttled(tmp_path: Path):
    """429 instead of 401; correct credentials are still served."""
    async with throttled(tmp_path, per_address=3, per_address_and_client=3) as world:
        refused = [await wrong(world) for _ in range(5)]
        missing = await world.ask("GET", world.at("/balance"), by=NOBODY)
        right = await balance(world)

    assert [answer.status for answer in refused] == [401, 401, 401, 429, 429]
    assert refused[-1].verdict == missing.verdict == LIMITED
    assert right.status == 200


async def test_a_full_request_class_refuses_its_own_requests_alone(tmp_path: Path):
    """503 at once, with Retry-After; admitted requests finish, and other classes continue."""
    limits = Limits(in_flight=6, loop_lag_s=3_600)  # two of them for partners' reads
    async with opened(sandbox(tmp_path, limits=limits)) as world:
        async with world.failing("balance", "hang"):
            await world.control.delete("calls")
            held = [asyncio.create_task(balance(world)) for _ in range(2)]
            await until(partial(holds, world, 2))
            shed = await balance(world)
            paid = await world.pay(order("beside-a-full-class", world.today()))
            stranger = await world.ask("GET", "/baas/v1/info", by=NOBODY)
            health = await world.ask("GET", "/baas/v1/health", by=NOBODY)
        # the bank lets go of those inside when it is told to, not when their time is over
        assert world.gateway.bank is not None
        await world.gateway.bank.close()
        inside = await asyncio.gather(*held)

    assert shed.verdict == (503, "SVC.GTW.006")
    assert (paid.status, stranger.status, health.status) == (200, 200, 200)
    assert [answer.status for answer in inside] == [502, 502]


async def holds(world: World, calls: int) -> bool:
    """Say whether the bank has got so many calls for a balance; others are ours in any case."""
    seen = (await world.control.get("calls"))["data"]
    return len([each for each in seen if each["path"].endswith("/saldo")]) >= calls
