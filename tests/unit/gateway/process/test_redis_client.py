"""Clients of one server, of a Cluster and of servers that Sentinels watch: real ones."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis, SSLConnection

from gateway.core.cache import CacheUnavailable
from gateway.core.limits import Ask, Granted
from gateway.process.cache import MemoryCache
from gateway.process.limits import ValkeyLimits
from gateway.process.redis_client import connect
from gateway.process.shared import SharedCache
from gateway.security.sealing import Sealer
from gateway.telemetry.ports import Event
from tests.servers.process import free_port
from tests.servers.redis import PASSWORD, SENTINEL_PASSWORD, Tls, cluster, served, watched
from tests.world.banks.authority import Authority
from tests.world.waiting import until

SLOW = Ask("read/cli_1", step_s=1000.0, room_s=10_000.0)
CLUSTER = ("+cluster|slots", "+command")
NAMES = [f"cli_{number}" for number in range(20)]


class Process:
    """A process's cache and limits at ``url``."""

    def __init__(self, url: str, ca: str = "", sentinel_password: str = "") -> None:
        self.counted: Counter[str] = Counter()
        remote = connect(url, 30.0, ca, sentinel_password)
        space = "pixgate:v1:sandbox"
        self.cache = SharedCache(
            remote=remote,
            namespace=space,
            sealer=Sealer({"new": b"k" * 32}, "new"),
            memory=MemoryCache(2**20),
            count=self.count,
            clock=time.monotonic,
        )
        self.limits = ValkeyLimits(
            remote=remote, namespace=space, secret=b"s" * 32, count=self.count, patience_s=60.0
        )

    def count(self, event: Event, label: str) -> None:
        self.counted[f"{event.name}.{label}"] += 1

    async def took(self, names: list[str], want: int = 1) -> list[int]:
        """Take tokens of several buckets at once."""
        answer: asyncio.Future[Granted | None] = asyncio.get_running_loop().create_future()
        asks = [SLOW._replace(key=name, want=want) for name in names]
        self.limits.request(asks, answer.set_result, "pause")
        granted = await answer
        return [] if granted is None else [each.took for each in granted.grants]

    async def refused(self) -> str:
        """Return why the server cannot be used; empty where it can."""
        try:
            await self.cache.check()
            await self.limits.check()
        except CacheUnavailable as problem:
            return str(problem)
        return ""


@asynccontextmanager
async def process_at(
    url: str, tls: Tls | None = None, sentinel_password: str = ""
) -> AsyncIterator[Process]:
    process = Process(url, "" if tls is None else str(tls.ca), sentinel_password)
    try:
        yield process
    finally:
        await process.limits.close()
        await process.cache.close()


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    """An authority that no system trusts, and what it signed for this machine."""
    authority = Authority(tmp_path)
    return Tls(authority.sign("server"), authority.file)


async def test_redis_cluster_counts_and_caches_on_every_node(tmp_path: Path, tls: Tls):
    """Two servers, with TLS: the keys of one call are on both."""
    with cluster(tmp_path, 2, tls) as hosts:
        async with process_at(f"rediss+cluster://:{PASSWORD}@{hosts}", tls) as one:
            async with process_at(f"rediss+cluster://:{PASSWORD}@{hosts}/0", tls) as other:
                fit = await one.refused()
                taken = [await one.took(NAMES, 6), await other.took(NAMES, 6)]
                waits = [
                    await each.limits.count_failure(NAMES, 1000.0, [[1]] * len(NAMES))
                    for each in (one, other)
                ]
                parts = [name.encode() for name in NAMES]
                kept = [await one.cache.put("k", parts, 60)]
                kept += [await other.cache.get("k", number) for number in range(len(NAMES))]
            counted = one.counted

    assert fit == ""
    assert taken == [[6] * 20, [4] * 20]
    assert [{wait > 0 for (wait,) in each or ()} for each in waits] == [{False}, {True}]
    assert kept == [True, *parts]
    assert counted == {"SHARED_LIMITS.answered": 2}


async def test_a_redis_url_of_the_wrong_kind_is_refused_with_the_right_scheme(
    tmp_path: Path, redis_url: str
):
    with cluster(tmp_path, 2) as hosts:
        one = hosts.partition(",")[0]
        async with process_at(f"redis://:{PASSWORD}@{one}/0") as process:
            of_a_cluster = await process.refused()
        async with process_at(f"redis+cluster://:{PASSWORD}@{one}") as process:
            right = await process.refused()
    async with process_at(redis_url.replace("redis:", "redis+cluster:")) as process:
        of_none = await process.refused()

    assert right == ""
    assert "write redis+cluster://" in of_a_cluster
    assert "write redis://" in of_none


async def test_the_redis_rights_in_the_operations_page_are_sufficient_and_necessary(tmp_path: Path):
    text = Path("docs/operations.md").read_text()
    told = text.partition("Beside the commands of the cache")[2].partition("no key holds")[0]
    page = re.findall(r"`([A-Z]+)`", told)
    rights = [f"+{name.lower()}" for name in page]
    said = {}
    with cluster(tmp_path, 1) as host, served(tmp_path) as port:
        servers = {f"redis+cluster://{host}": PASSWORD, f"redis://127.0.0.1:{port}": None}
        for url, password in servers.items():
            for lacking in ("+eval", "+cluster|slots", ""):
                given = [each for each in (*rights, *CLUSTER) if each != lacking]
                async with Redis.from_url(url.replace("+cluster", ""), password=password) as raw:
                    await raw.acl_setuser(
                        "pix",
                        enabled=True,
                        passwords=["+word"],
                        keys=["pixgate:*"],
                        commands=["-@all", *given],
                    )
                async with process_at(url.replace("//", "//pix:word@")) as process:
                    said[url.partition(":")[0], lacking] = await process.refused()

    lacks = "its user may not run every command that docs/operations.md names"
    assert said == {
        ("redis+cluster", "+eval"): lacks,
        ("redis+cluster", "+cluster|slots"): lacks,
        ("redis+cluster", ""): "",
        ("redis", "+eval"): lacks,
        ("redis", "+cluster|slots"): "",
        ("redis", ""): "",
    }


async def test_after_a_failover_the_new_primary_is_used(tmp_path: Path, tls: Tls):
    """With TLS everywhere, and separate passwords for Sentinels; the first of two is down."""
    with watched(tmp_path, tls) as (hosts, primary, fail_over):
        url = f"rediss+sentinel://:{PASSWORD}@127.0.0.1:{free_port()},{hosts}/pix/0"
        async with process_at(url, tls, SENTINEL_PASSWORD) as process:
            fit = await process.refused()
            before = await process.took(["a"], 6)
            first = primary()
            fail_over()

            async def is_another() -> bool:
                await process.took(["b"])
                return primary() != first

            await until(is_another)
            await until(lambda: takes(process))
        async with process_at(url.replace("/pix", "/other"), tls, SENTINEL_PASSWORD) as process:
            nowhere = await process.refused()
        async with process_at(url, tls, "wrong") as process:
            unknown = await process.refused()

    assert (fit, before) == ("", [6])
    assert [each.partition(" (")[0] for each in (nowhere, unknown)] == ["no Sentinel answers"] * 2


async def takes(process: Process) -> bool:
    return await process.took(["c"]) == [1]


async def test_an_unreachable_cluster_or_sentinel_does_not_fail_calls():
    for kind, path in {"cluster": "", "sentinel": "/pix"}.items():
        async with process_at(f"redis+{kind}://127.0.0.1:{free_port()}{path}") as process:
            assert await process.took(["a"]) == []
            assert await process.cache.put("k", [b"a"], 60)
            assert await process.cache.get("k") == b"a"
            assert process.counted["SHARED_LIMITS.failed"] == 1


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://cache", ("cache", 6379, 0, None)),
        ("redis://127.0.0.1:6380/3", ("127.0.0.1", 6380, 3, None)),
        ("redis://:p%40ss@cache:1/0", ("cache", 1, 0, "p@ss")),
        ("rediss://user:word@cache/2", ("cache", 6379, 2, "word")),
    ],
)
async def test_a_redis_url_gives_address_database_and_user(
    url: str, place: tuple[str, int, int, str | None]
):
    remote = connect(url, 1)

    line = remote.connection_pool.make_connection()
    assert (line.host, line.port, line.db, line.password) == place
    assert line.username == ("user" if "user" in url else None)
    assert isinstance(line, SSLConnection) == url.startswith("rediss")
    await remote.aclose()
