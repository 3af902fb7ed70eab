"""
``make bench-pages``: every page of the panel, in a store with very much in it: time, queries, size.

The gateway runs in this process, so that its statements can be counted; the bank and PostgreSQL are
processes of their own. The list of pages is that of the screens' tests.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, quantiles

import aiohttp
import pytest

from bench import panel_store
from bench.queries import Statements, counting
from gateway.config.settings import Database, Settings
from gateway.config.values import Address
from gateway.telemetry.records import AccessRecord
from tests.browser import panel_site
from tests.browser.panel_site import PanelSite
from tests.browser.screens import OK, SCREENS, Screen, usual
from tests.servers import postgres

MOST_QUERIES = 6
MORE_QUERIES = {
    "approval-payout": 5,
    "closing": 11,
    "outflow_subject": 1,
    "unresolved": 6,
    "search": 6,
    "payout": 2,
    "payout-returned": 2,
    "payout-receipt": 1,
    "payout-certainty": 1,
    "overview": 1,
    "overview-month": 1,
    "trace": 1,
    "credential": 1,
    "batch": 3,
    "batch-wrong": 1,
}
"""
Pages that may send so many more: of a file its rows, their sums and what stands out, a decider's
look at a recipient is put on record, of the payout that is chosen it is read what its bank shows,
what came back is added up besides, a day is compared with payouts, charges and explained debits,
and kept beside the days around it, below the stops of the account, and those that nobody explained
stand beside it, one search reads each noun, who ordered and approved a payout is named, and what
endpoints were told of one that has ended, of a trace its company, and for an old credential a daily
limit is proposed.
"""
MOST_WHO_ASKS = 5
"""The browser's session, the person's, their keys; once a minute both are noted as seen."""
MOST_BYTES = 60 * 1024
SIZES = (10_000, 1_000_000)
MANY = 100_000
"""Payouts above which a page may take longer."""

_MOST_P99_MS = 100
_PATIENCE_S = 60
_PERSON = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """
    What a page costs.

    Attributes:
        took_ms: Of every request, on the gateway's own clock.
        queries: The most that any of them sent for the page itself, the first one too.
        who_asks: The same for finding out who asks.
        size: Of the HTML, in bytes, not compressed.
    """

    name: str
    took_ms: Sequence[float]
    queries: int
    who_asks: int
    size: int

    @property
    def p99_ms(self) -> float:
        """Of all but one in a hundred."""
        return quantiles(self.took_ms, n=100)[98] if len(self.took_ms) > 1 else self.took_ms[0]

    @property
    def too_much(self) -> bool:
        """Return whether it asks or sends more than a page may; milliseconds are not judged."""
        most = MOST_QUERIES + MORE_QUERIES.get(self.name, 0)
        asks = self.queries > most or self.who_asks > MOST_WHO_ASKS
        return asks or self.size > MOST_BYTES


async def cost(site: PanelSite, screen: Screen, rounds: int) -> Cost:
    """Ask for a page again and again, after a first time whose duration does not count."""
    cookies, path = await site.cookies(usual(screen)), screen.at(site.seeds)
    taken, sizes, most = list[float](), list[int](), list[tuple[int, int]]()
    async with aiohttp.ClientSession(site.origin, cookies=cookies) as browser:
        for _ in range(rounds + 1):
            with counting(site.world.gateway.kernel.store.database) as sent, timing(site) as took:
                async with browser.get(path, headers=_PERSON) as said:
                    sizes.append(len(await said.read()))
            assert said.status == OK, (screen.name, said.status)  # noqa: S101 - a page
            taken.append(took[0].duration_s * 1000)
            most.append(_most(sent, said.headers["X-Trace-ID"]))
    return Cost(
        name=screen.name,
        took_ms=taken[1:],
        queries=max(queries for queries, _ in most),
        who_asks=max(who for _, who in most),
        size=sizes[0],
    )


def _most(sent: Statements, trace_id: str) -> tuple[int, int]:
    return sent.of_pages[trace_id], sent.who_asks[trace_id]


@contextmanager
def timing(site: PanelSite) -> Iterator[list[AccessRecord]]:
    """Note what the gateway tells of each request that it answers."""
    observer = site.world.gateway.telemetry.observer
    kept, records = observer.kept, list[AccessRecord]()
    observer.kept = lambda _at, record, _line: records.append(record)
    try:
        yield records
    finally:
        observer.kept = kept


async def measure(settings: Settings, asked: argparse.Namespace) -> Sequence[Cost]:
    """Measure every page, or those named."""
    async with panel_store.filled(settings, asked.payouts, asked.rows) as site:
        screens = [each for each in SCREENS if not asked.only or each.name in asked.only]
        return [await cost(site, each, asked.rounds) for each in screens]


def report(database: str, asked: argparse.Namespace, costs: Sequence[Cost]) -> None:
    """Print a table; the gateway's own lines go to standard output."""
    most_ms = 60 if asked.payouts > MANY else 30
    _say(f"\n{database}, {asked.payouts:,} payouts, {asked.rows:,} rows of a statement")
    _say("| Page | ms | p99 ms | queries | who asks | KB |")
    _say("| --- | --- | --- | --- | --- | --- |")
    for each in sorted(costs, key=lambda one: -median(one.took_ms)):
        slow = median(each.took_ms) > most_ms or each.p99_ms > _MOST_P99_MS
        _say(
            f"| {each.name} | {median(each.took_ms):.1f}{' slow' if slow else ''} | "
            f"{each.p99_ms:.1f} | {each.queries} | {each.who_asks} | "
            f"{each.size / 1024:.1f}{' TOO MUCH' if each.too_much else ''} |"
        )
    _say(f"mean of all: {mean(ms for one in costs for ms in one.took_ms):.1f} ms")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


@contextmanager
def _database(kind: str) -> Iterator[str]:
    """Serve a database; return its address, empty for a file."""
    if kind == "sqlite":
        yield ""
        return
    with postgres.running(settings=()) as server:
        yield server.plain


def run(kind: str, asked: argparse.Namespace) -> Sequence[Cost]:
    """Measure on one kind of database."""
    with tempfile.TemporaryDirectory(prefix="pages-") as folder, _database(kind) as url:
        limits = Database(
            url=Address(url),
            migrate="always",
            timeout_s=_PATIENCE_S,
            auth_timeout_s=_PATIENCE_S,
        )
        settings = panel_site.settings(Path(folder), database=limits)
        return asyncio.run(measure(settings, asked))


def main(arguments: Sequence[str]) -> int:
    """Measure on each database at each size; 1 where a page asks or sends too much."""
    parser = argparse.ArgumentParser(prog="bench/pages.py")
    parser.add_argument("--payouts", type=int, action="append", help="twice: two stores")
    parser.add_argument("--rows", type=int, default=100_000, help="of the bank's statement")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--database", choices=("sqlite", "postgres"), action="append")
    parser.add_argument("--only", action="append", help="the name of a screen")
    asked = parser.parse_args(arguments)
    failed = False
    for payouts in asked.payouts or SIZES:
        for kind in asked.database or ("sqlite", "postgres"):
            one = argparse.Namespace(**{**vars(asked), "payouts": payouts})
            try:
                costs = run(kind, one)
            except pytest.skip.Exception as absent:
                _say(f"PostgreSQL is left out: {absent}")
                continue
            report(kind, one, costs)
            failed = failed or any(each.too_much for each in costs)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
