"""
``make bench-overload``: a partner's payouts while people of every role hammer every page.

Gateway, bank, browsers and partner are processes of their own and share the machine. Limits are as
they come, but for the partner's quota of payouts. It ends with status 1 where a payout was refused.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Final

import aiohttp

from bench import bulk_rows, panel_store, system
from bench.trees import OURS, modules_of, unpacked
from gateway.config.settings import Database, Settings
from gateway.config.values import Address
from gateway.core.rights import Role
from tests.browser import panel_site, seeds
from tests.browser.people import NOBODY, PENDING, People
from tests.browser.screens import SCREENS
from tests.servers import postgres
from tests.servers.process import free_port
from tests.world.gateway.world import FROM_NOON, basic, opened, order

_OK: Final = 200
_RATE: Final = 20
"""Payouts a second."""
_PATIENCE: Final = aiohttp.ClientTimeout(total=60)
_EXPORTS: Final = (
    "/panel/payouts/export",
    "/panel/requests/export",
    "/panel/audit/export",
    "/panel/received/export?account_id={main}",
    "/panel/accounts/{main}/statement/export?format=csv",
    "/panel/accounts/{main}/statement/export?format=pdf",
)
_SEARCHES: Final = (
    "/panel/search?q=pedido-10",
    "/panel/search?q=pedido-10&read=1",
    "/panel/search?q=Maria&read=1",
    "/panel/payouts?text=silva",
)
_CLOSING: Final = "/closing"
_PERSON: Final = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """
    What stands in the store.

    Attributes:
        paths: Kind and address of every page.
        cookies: Of people of every role.
        account: Of the partner.
        authorization: Of the partner.
    """

    paths: Sequence[tuple[str, str]]
    cookies: Sequence[str]
    account: str
    authorization: str
    day: str


@dataclass(slots=True, kw_only=True)
class Paid:
    """How payouts, and reads of them, were answered; latencies run from when a payout was due."""

    statuses: Counter[str] = field(default_factory=Counter)
    payouts_s: list[float] = field(default_factory=list)
    reads_s: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """Somebody who pays, and reads what became of it."""

    session: aiohttp.ClientSession
    planted: Planted
    paid: Paid = field(default_factory=Paid)
    begun: int = field(default_factory=time.time_ns)

    async def pay(self, number: int, due: float) -> None:
        """Make one payout, which is due at an instant of the loop, and read it if it was taken."""
        paid, loop = self.paid, asyncio.get_running_loop()
        path = f"/baas/v1/account/{self.planted.account}/withdraw"
        reference = f"overload-{self.begun}-{number}"
        # amounts differ: equal ones would be logged as a likely mistake
        document = order(reference, self.planted.day, value=round(1 + number / 100, 2))
        try:
            async with self.session.post(path, json=document) as said:
                code = "" if said.status == _OK else (await said.json())["code"]
            paid.payouts_s.append(loop.time() - due)
            paid.statuses[f"payout {said.status} {code}".strip()] += 1
            if said.status == _OK:
                since = loop.time()
                async with self.session.get(f"{path}/{reference}") as said:
                    await said.read()
                paid.reads_s.append(loop.time() - since)
                paid.statuses[f"read {said.status}"] += 1
        except (aiohttp.ClientError, TimeoutError) as problem:
            paid.statuses[f"lost {type(problem).__name__}"] += 1


async def plant(settings: Settings, asked: argparse.Namespace) -> Planted:
    """Fill a store, and sign people in."""
    async with opened(settings) as world:
        planted = await seeds.plant(world)
        people = People(world=world)
        made = [await people.make(role) for role in Role for _ in range(asked.people)]
        cookies = [await people.sign_in(each) for each in made]
        main = await world.gateway.kernel.store.accounts.find(planted["main"])
        assert main is not None  # noqa: S101 - the demo has it
        pair, day = world.demo["credentials"]["full"], world.today()
    accounts = [planted["main"], planted["other_company"]]
    await bulk_rows.fill_payouts(
        str(settings.store_url), accounts, bulk_rows.Bulk(rows=asked.payouts)
    )
    bulk_rows.fill_statement(settings.bank_file, main.provider_account, asked.rows)
    return Planted(
        paths=list(pages(planted)),
        cookies=["; ".join(f"{name}={value}" for name, value in each.items()) for each in cookies],
        account=planted["main"],
        authorization=basic(pair),
        day=day,
    )


def pages(planted: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the kind and the address of every page, search and export."""
    for screen in SCREENS:
        if screen.by not in {NOBODY, PENDING}:
            path = screen.at(planted)
            yield ("closing" if _CLOSING in path else "page"), path
    for search in _SEARCHES:
        yield "search", search
    for export in _EXPORTS:
        yield "export", export.format_map(planted)


@contextmanager
def gateway(settings: Settings, tree: Path, operations: int) -> Iterator[int]:
    """Run the gateway of a tree, without the bank in it."""
    config = settings.folder / "gateway.yaml"
    bank = {
        "adapter": "sandbox",
        "settings": {"base_url": f"http://127.0.0.1:{settings.sandbox_bank.port}"},
    }
    document = {
        "environment": "sandbox",
        "var": str(settings.folder),
        "server": {"port": settings.server.port, "drain_accept_s": 0},
        "admin": {"port": operations},
        "session": {"insecure_dev": True},
        "database": {"url": str(settings.database.url), "migrate": "always"},
        "ratelimits": {"payout": {"rate": 2 * _RATE, "burst": 20 * _RATE}},
        "providers": {"sandbox": bank, "sandbox-read-only": {**bank, "read_only": True}},
        "sandbox_bank": {"start": False},
    }
    config.write_text(json.dumps(document))  # JSON is YAML
    command = [sys.executable, "-P", "-m", "gateway", "serve", "--config", str(config)]

    def is_ready() -> bool:
        return system.answers(operations, "/readyz") == _OK

    with modules_of(tree), system.running(command, None, settings.folder, is_ready) as pid:
        yield pid


@asynccontextmanager
async def hammering(
    settings: Settings, planted: Planted, connections: int, tally: Counter[str]
) -> AsyncIterator[int]:
    """Hammer every page from a process of its own; fill ``tally`` at the end."""
    hammer = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).parent / "hammer.py")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    wanted = {
        "port": settings.server.port,
        "connections": connections,
        "paths": planted.paths,
        "cookies": planted.cookies,
    }
    assert hammer.stdin is not None  # noqa: S101 - a pipe
    hammer.stdin.write(json.dumps(wanted).encode() + b"\n")
    await hammer.stdin.drain()
    try:
        yield hammer.pid
    finally:
        said, _ = await hammer.communicate(b"")  # closes its input
        tally.update(json.loads(said))


async def warm_up(settings: Settings, planted: Planted) -> None:
    """Ask for every page once: the first answers load templates and read records."""
    origin = f"http://127.0.0.1:{settings.server.port}"
    async with aiohttp.ClientSession(
        origin, timeout=_PATIENCE, cookie_jar=aiohttp.DummyCookieJar()
    ) as browser:
        for at, (_, path) in enumerate(planted.paths):
            cookie = planted.cookies[at % len(planted.cookies)]
            headers = {**_PERSON, "Cookie": cookie}
            async with browser.get(path, headers=headers, allow_redirects=False) as said:
                await said.read()


async def pay(settings: Settings, planted: Planted, seconds: float) -> Paid:
    """Pay at a steady rate whatever the answers, and read each payout that was taken."""
    origin = f"http://127.0.0.1:{settings.server.port}"
    headers = {"Authorization": planted.authorization}
    # an address of its own, and as many connections as a partner keeps
    connector = aiohttp.TCPConnector(limit=50, local_addr=("127.0.0.2", 0))
    async with aiohttp.ClientSession(
        origin, connector=connector, headers=headers, timeout=_PATIENCE
    ) as session:
        partner, loop = Partner(session=session, planted=planted), asyncio.get_running_loop()
        start = loop.time()
        async with asyncio.TaskGroup() as paying:
            for number in range(int(seconds * _RATE)):
                due = start + number / _RATE
                await asyncio.sleep(max(0.0, due - loop.time()))
                paying.create_task(partner.pay(number, due))
    return partner.paid


async def trial(
    settings: Settings, planted: Planted, asked: argparse.Namespace, pids: Mapping[str, int]
) -> bool:
    """Pay beside the hammer, and report; return whether every payout was taken."""
    tally: Counter[str] = Counter()
    await warm_up(settings, planted)
    await pay(settings, planted, 1)  # the first ones read records and open connections
    report("alone", await pay(settings, planted, asked.seconds / 3), tally)
    async with hammering(settings, planted, asked.connections, tally) as hammer:
        every = {**pids, "browsers": hammer, "partner": os.getpid()}
        await asyncio.sleep(2)
        busy, since = system.busy_s(), time.monotonic()
        used = _used_s(every)
        paid = await pay(settings, planted, asked.seconds)
        took_s = time.monotonic() - since
        used = {name: after - used[name] for name, after in _used_s(every).items()}
        busy = system.busy_s() - busy
    report("beside people", paid, tally)
    shares = ", ".join(f"{name} {100 * each / took_s:.0f} %" for name, each in used.items())
    others = 100 * (busy - sum(used.values())) / took_s
    _say(f"of one core: {shares}, others {others:.0f} %; load {os.getloadavg()[0]:.1f}")
    taken = paid.statuses[f"payout {_OK}"]
    return taken == len(paid.payouts_s) == int(asked.seconds * _RATE)


def _used_s(pids: Mapping[str, int]) -> Mapping[str, float]:
    """Return the CPU time of each process and its children; this one is everybody's parent."""
    own = os.getpid()
    return {
        name: system.cpu_s([pid] if pid == own else system.tree(pid)) for name, pid in pids.items()
    }


def report(when: str, paid: Paid, tally: Counter[str]) -> None:
    """Print how partner and people were answered."""
    for name, found in (("payouts", paid.payouts_s), ("reads of them", paid.reads_s)):
        if len(found) > 1:
            cuts = [1000 * each for each in quantiles(found, n=100)]
            most = 1000 * max(found)
            _say(f"{name} {when}: p50 {cuts[49]:.0f}, p99 {cuts[98]:.0f}, most {most:.0f} ms")
    _say(f"partner {when}: {_counts(paid.statuses)}")
    if tally:
        _say(f"people: {_counts(tally)}")


def _counts(tally: Counter[str]) -> str:
    return ", ".join(f"{name}: {times}" for name, times in sorted(tally.items()))


def _say(line: str) -> None:
    """Report; the lines of the gateway that fills the store go to standard output."""
    print(line, file=sys.stderr)


def run(asked: argparse.Namespace, url: str, database: int | None = None) -> bool:
    """Fill a store, and try each tree on it in turn."""
    right = True
    os.environ.update(FROM_NOON)
    with (
        tempfile.TemporaryDirectory(prefix="overload-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryDirectory(prefix="overload-") as store,
    ):
        trees = {"this tree": OURS}
        if asked.before:
            trees = {asked.before: unpacked(Path(folder), asked.before), **trees}
        database = Database(url=Address(url), migrate="always", timeout_s=60, auth_timeout_s=60)
        settings = panel_site.settings(Path(store), database=database)
        planted = asyncio.run(plant(settings, asked))
        with panel_store.bank(settings) as bank:
            for name, tree in trees.items():
                _say(f"\n{name}: {asked.connections} connections for {asked.seconds:.0f} s")
                with gateway(settings, tree, free_port()) as pid:
                    pids = {"gateway": pid, "bank": bank}
                    if database is not None:
                        pids["database"] = database
                    taken = asyncio.run(trial(settings, planted, asked, pids))
                    right = taken or (right and tree != OURS)
    return right


def main(arguments: Sequence[str]) -> int:
    """Try; 1 where a payout was not taken by this tree."""
    parser = argparse.ArgumentParser(prog="bench/overload.py")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--people", type=int, default=3, help="of each role")
    parser.add_argument("--payouts", type=int, default=20_000, help="in the store")
    parser.add_argument("--rows", type=int, default=5_000, help="of the bank's statement")
    parser.add_argument("--before", help="a commit of this clone to try first")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="postgres")
    asked = parser.parse_args(arguments)
    if asked.database == "sqlite":
        return int(not run(asked, ""))
    with postgres.running(settings=()) as server:
        return int(not run(asked, server.plain, server.pid))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
