"""
``make scale``: a payout and a balance with one and with two server processes on one PostgreSQL.

What one process costs predicts what two cost; a day of the whole network's payouts is run through
that model. Writes the measured part of docs/scale.md. Fails where the prediction is off by more
than a fifth.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

import asyncpg
import uvloop

from bench import load, model, rounds, stage, system
from bench.load import Order, traced
from bench.model import Costs
from bench.partner import make_partner
from bench.trees import OURS
from gateway.store.kernel.partitions import EVENTS, REQUESTS
from tests.servers.process import free_port

PAGE: Final = OURS / "docs/scale.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
OFF: Final = 0.2
SHARED_CORE: Final = 1.17
"""What a request costs beside a second process on the same core, of what it costs alone; measured
for docs/performance.md. On a node each process has a core, so the day goes without it."""
PAYOUT, BALANCE = "payout", "balance"
_NO_CHECKS: Final = "UPDATE payouts SET next_check_at = NULL WHERE next_check_at IS NOT NULL"
_WAL: Final = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"
_KEPT: Final = (
    "SELECT pg_total_relation_size('payouts') + pg_total_relation_size('payout_attempts')"
    " + pg_total_relation_size('payout_names')"
)
_STORED: Final = "SELECT count(*) FROM payouts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One round: per answer, CPU of server processes and of PostgreSQL in µs, and bytes of WAL."""

    answers: int
    server_us: float
    database_us: float
    wal: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Two server processes on one PostgreSQL; orders by what is asked, one for each process."""

    pids: Sequence[int]
    database: int
    url: str
    orders: dict[str, Sequence[Order]]


def started(scene: stage.Stage) -> Site:
    """Start PostgreSQL and the processes; raises NotStarted."""
    server = scene.server()
    if server is None or server.pid is None:
        problem = "PostgreSQL is needed"
        raise system.NotStarted(problem)
    site = scene.site("one", OURS, server.plain)
    partner = make_partner(site)
    other = replace(site, port=free_port(), operations=free_port())
    pids = [scene.gateway(each) for each in (site, other)]
    paying, reading = partner.payout_requests(), partner.request(partner.account)
    return Site(
        pids=pids,
        database=server.pid,
        url=server.plain,
        orders={
            PAYOUT: [Order(port=each.port, requests=paying) for each in (site, other)],
            BALANCE: [Order(port=each.port, requests=traced(reading)) for each in (site, other)],
        },
    )


async def one_round(site: Site, what: str, processes: int, options: argparse.Namespace) -> Taken:
    """Load some of the processes, each by as many callers; raises WrongAnswer."""
    store = await asyncpg.connect(site.url)
    try:
        await store.execute(_NO_CHECKS)
        stored = await store.fetchval(_STORED)
        async with AsyncExitStack() as calling:
            tallies = [
                await calling.enter_async_context(load.calling(order, options.connections))
                for order in site.orders[what][:processes]
            ]
            await asyncio.sleep(options.seconds / 4)
            before, wal, first = _clocks(site, processes), await store.fetchval(_WAL), _sum(tallies)
            await asyncio.sleep(options.seconds)
            after, written, last = (
                *(_clocks(site, processes), await store.fetchval(_WAL), _sum(tallies)),
            )
        answers = last - first
        kept = await store.fetchval(_STORED) - stored
    finally:
        await store.close()
    wanted = _sum(tallies) if what == PAYOUT else 0
    if any(each.wrong for each in tallies) or not answers or kept != wanted:
        problem = f"{what}, {processes}: {wanted} told, {kept} stored, or a wrong answer"
        raise rounds.WrongAnswer(problem)
    server, database = (end - begin for begin, end in zip(before, after, strict=True))
    return Taken(
        answers=answers,
        server_us=server / answers * 1e6,
        database_us=database / answers * 1e6,
        wal=float(written - wal) / answers,
    )


def _sum(tallies: Sequence[load.Tally]) -> int:
    return sum(each.answers for each in tallies)


def _clocks(site: Site, processes: int) -> tuple[float, float]:
    """Read the CPU of the processes that are loaded, and of the database."""
    loaded = [pid for each in site.pids[:processes] for pid in system.tree(each)]
    return system.cpu_s(loaded), system.cpu_s(system.tree(site.database))


Rounds = dict[tuple[str, int], list[Taken]]


async def taken(site: Site, options: argparse.Namespace) -> tuple[Rounds, float]:
    """Take the rounds in turns, and the bytes that a payout leaves."""
    found: Rounds = {}
    store = await asyncpg.connect(site.url)
    bytes_before, rows_before = await store.fetchval(_KEPT), await store.fetchval(_STORED)
    for number in range(options.rounds + 1):  # the first one warms up
        for what in (PAYOUT, BALANCE):
            for processes in (1, 2) if number % 2 else (2, 1):  # each goes first as often
                one = await one_round(site, what, processes, options)
                if number:
                    found.setdefault((what, processes), []).append(one)
    rows = await store.fetchval(_STORED) - rows_before
    kept = (await store.fetchval(_KEPT) - bytes_before) / rows
    await store.close()
    return found, kept


def middle(found: Rounds, what: str, processes: int, name: str) -> float:
    """Return the median of one figure."""
    return median(getattr(one, name) for one in found[what, processes])


def predictions(found: Rounds) -> Iterator[tuple[str, float, float, float, float]]:
    """Give what one costs and predicts, what two cost, and how far neighbouring rounds are off."""
    for name, what, figure, shared in (
        ("payout, server processes", PAYOUT, "server_us", SHARED_CORE),
        ("payout, PostgreSQL", PAYOUT, "database_us", 1.0),
        ("balance, server processes", BALANCE, "server_us", SHARED_CORE),
    ):
        pairs = zip(found[what, 1], found[what, 2], strict=True)
        off = median(getattr(two, figure) / getattr(one, figure) / shared for one, two in pairs) - 1
        alone = middle(found, what, 1, figure)
        yield name, alone, alone * shared, middle(found, what, 2, figure), off


def page(found: Rounds, costs: Costs, command: str) -> Iterator[str]:
    """Write the measured part of the page."""
    at = datetime.now(UTC)
    machine = system.machine()
    where = f"{machine['processor']}, {machine['cores']} cores"
    yield f"{at.day} {at:%B %Y, %H:%M} UTC, {where}, `{command}`:\n"
    yield "| CPU, µs | 1 process | prediction | 2 processes | off by |"
    yield "| --- | --- | --- | --- | --- |"
    for name, one, predicted, two, off in predictions(found):
        yield f"| {name} | {one:.0f} | {predicted:.0f} | {two:.0f} | {off:+.0%} |"
    yield f"\nA payout writes {costs.wal / 1e3:.1f} KB of WAL, and leaves {costs.kept:.0f} bytes.\n"
    days = [(each, model.day(costs, each)) for each in (10e6, 50e6, model.RECORD)]
    yield "| A day of | " + " | ".join(f"{payouts / 1e6:.0f} M" for payouts, _ in days) + " |"
    yield "| --- |" + " --- |" * len(days)
    rows = {
        "payouts a second, mean, peak": "{0.mean:,.0f}, {0.peak:,.0f}",
        "cores of server processes and workers at the peak": "{0.server_cores:.1f}",
        "processes; nodes of four": "{0.processes}; {0.nodes}",
        "cores of PostgreSQL at the peak": "{0.database_cores:.1f}",
        "connections": "{0.connections:,}",
        "WAL at the peak; a day": "{0.wal_mb_s:.0f} MB/s; {0.wal_tb:.2f} TB",
        "kept for ever, a day": "{0.kept_gb:,.0f} GB",
        f"million rows of a {EVENTS.period}'s partition of events": "{0.event_rows_m:,.0f}",
        f"million rows of a {REQUESTS.period}'s partition of the request log": (
            "{0.request_rows_m:,.0f}"
        ),
    }
    for name, form in rows.items():
        yield f"| {name} | " + " | ".join(form.format(demand) for _, demand in days) + " |"
    yield "\n| Limits, in the order in which they are reached | at payouts a day | assumed limit |"
    yield "| --- | --- | --- |"
    for name, payouts in model.breaks(days[-1][1]):
        limit, reason = model.LIMITS[name]
        yield f"| {name} | {payouts / 1e6:,.0f} M | {limit:,.0f}: {reason} |"


def written(text: str, measured: str) -> str:
    """Replace the measured part of a page."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{measured}\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Measure, print and write; 1 if the prediction is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a round")
    parser.add_argument("--connections", type=int, default=64, help="callers of each process")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    options = parser.parse_args()
    try:
        with stage.staged() as scene:
            found, kept = uvloop.run(taken(started(scene), options))
    except (rounds.WrongAnswer, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    costs = Costs(
        payout_us=middle(found, PAYOUT, 1, "server_us"),
        balance_us=middle(found, BALANCE, 1, "server_us"),
        database_us=middle(found, PAYOUT, 1, "database_us"),
        wal=middle(found, PAYOUT, 1, "wal"),
        kept=kept,
    )
    command = f"make scale BENCH='--rounds {options.rounds} --seconds {options.seconds:g}'"
    measured = "\n".join(page(found, costs, command))
    print(measured)
    options.page.write_text(written(options.page.read_text(), measured))
    wrong = [f"{name}: {off:+.0%}" for name, *_, off in predictions(found) if abs(off) > OFF]
    print(*(f"the prediction is off, {each}" for each in wrong), sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
