"""
``make bench-lists``: lists of payouts in a store with very many, by filter, beside the plain list.

A list is a page of the last 90 days and its counts, as the panel asks for both; a search is a page
of all times. What nothing or little matches costs most, so that is what most filters here find.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, Final

import pytest
from sqlalchemy import ColumnElement, and_, func, insert, select, text, update

from bench import bulk_rows, payments, system
from gateway.app.store import Store, open_store
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.money import Money
from gateway.payouts.model import CertaintySought, PayoutState
from gateway.payouts.search import (
    FOUND_AT_MOST,
    PayoutDirectory,
    PayoutFilterBody,
    PayoutOrder,
    PayoutQuery,
)
from gateway.store import schema
from gateway.store.kernel.database import Limits
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import payouts, returns
from gateway.store.tables.texts import COMPARED_AT_MOST
from tests.servers import postgres

_WINDOW: Final = timedelta(days=90)
_SETTINGS: Final = (*postgres.FAST, "max_parallel_workers_per_gather=0")
_PATIENT: Final = Limits(statement_s=600.0, busy_s=600.0, whole_s=600.0)
_CLIENT: Final = "cli_abcdefghijklmnopqrst"
"""Who made every payout here."""
_RETURNED: Final = Money(77_777)
_MANY_RETURNS: Final = 10_000
_UNDER_WAY: Final = 20
_OPEN: Final = (PayoutState.SENDING, PayoutState.ACCEPTED)
_PLAIN: Final = "plain"
_SEARCH: Final = "search: "
"""Such a one is a page alone, of all times."""
CASES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        _PLAIN: {},
        "a client's, all": {"client_id": _CLIENT},
        "a client's, none": {"client_id": "cli_nobody"},
        "a method's, all": {"method": PayoutMethod.PIX},
        "a method's, none": {"method": PayoutMethod.BANK_ACCOUNT},
        "a text that all have": {"text": "pedido"},
        "a text, the first hit is old": {"text": "raridade"},
        "a text that none has": {"text": "nobody"},
        "a text that none has, a client's": {"text": "nobody", "client_id": _CLIENT},
        "a text that none has, no client's": {"text": "nobody", "client_id": "cli_nobody"},
        "a text that none has, a method's": {"text": "nobody", "method": PayoutMethod.PIX},
        "tab under way": {"states": [*_OPEN], "unresolved": False},
        "tab under way, oldest first": {
            "states": [*_OPEN],
            "unresolved": False,
            "order": PayoutOrder.OLDEST,
        },
        "tab unresolved": {"unresolved": True},
        "tab not sent": {"certainty": CertaintySought.NEVER_SENT},
        "tab not executed": {"certainty": CertaintySought.NOT_EXECUTED},
        "tab failed": {"certainty": CertaintySought.CONFIRMED_REJECTED},
        "tab returned": {"returned": True},
        "amounts, none": {"least": Money(90_000_000)},
        "amounts, few": {"least": Money(500_000), "most": Money(500_010)},
        "amounts, most": {"least": Money(2_000)},
        "one amount, 10,000 returns": {"text": "777,77"},
        "one amount, none": {"text": "999.999,99"},
        f"{_SEARCH}text, the first hit is old": {"text": "raridade"},
        f"{_SEARCH}text that none has": {"text": "nobody"},
        f"{_SEARCH}one amount, 10,000 returns": {"text": "777,77"},
    }
)


async def fill(url: str, rows: int) -> None:
    """Fill an empty store with payouts, returns, and the few that are not like the others."""
    await schema.upgrade(url)
    store = open_store(url, _PATIENT)
    try:
        accounts = [await payments.open_account(store, f"bench-{number}") for number in range(2)]
        await bulk_rows.fill_payouts(url, accounts, bulk_rows.Bulk(rows=rows))
        await _rare(store, accounts, rows)
    finally:
        await store.close()


async def _rare(store: Store, accounts: Sequence[str], rows: int) -> None:
    """Change a few payouts, and let something come back of many."""

    def numbered(number: int) -> ColumnElement[bool]:
        digest = reference_digest(f"pedido-{1_000_000_000 + number}")
        return and_(payouts.c.account_id.in_(accounts), payouts.c.reference_sha256 == digest)

    apart = rows // _UNDER_WAY
    async with store.database.writing() as connection:
        old = numbered(COMPARED_AT_MOST - 200)
        await connection.execute(update(payouts).where(old).values(payee_folded="raridade"))
        for number in range(0, rows, apart):
            accepted = {"state": "accepted", "settled_at": None}
            planned = {"next_check_at": datetime.now(UTC) + timedelta(minutes=5)}
            way = update(payouts).where(numbered(number + apart // 2))
            await connection.execute(way.values(failure_code=None, **accepted, **planned))
        every = rows // _MANY_RETURNS or 1
        paid = select(
            payouts.c.account_id,
            payouts.c.reference_sha256,
            func.substr(payouts.c.reference, 8),
            text(str(_RETURNED.centavos)),
            payouts.c.created_at,
        ).where(
            payouts.c.state == "paid",
            text(f"CAST(substr(reference, 8) AS bigint) % {every} = 1 % {every}"),
            payouts.c.reference.startswith("pedido"),
        )
        await connection.execute(insert(returns).from_select(list(returns.c), paid))
    async with store.database.writing() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(text("ANALYZE"))
        else:  # no gateway gathers statistics of a file
            await connection.execute(text("DELETE FROM sqlite_stat1"))


def _cpu_s(server: int | None) -> float:
    """Return the CPU time of this process and of a server's, which has no parallel workers."""
    pids = [] if server is None else system.tree(server)
    return time.process_time() + sum(map(_ran_s, pids))


def _ran_s(pid: int) -> float:
    """Return how long a process has run, to the nanosecond; 0 for one that has ended."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU of a list in milliseconds, of its page alone, and its ratio to the plain list."""

    list_ms: float
    page_ms: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads lists of a store, and tells what they cost."""

    directory: PayoutDirectory
    server: int | None

    async def cost(self, name: str, rounds: int) -> Cost:
        """Read a list and the plain one in turns; return medians."""
        await self._once(name)
        pairs = [(await self._once(_PLAIN), await self._once(name)) for _ in range(rounds)]
        return Cost(
            median(whole for _, (whole, _) in pairs) * 1e3,
            median(page for _, (_, page) in pairs) * 1e3,
            median(whole / plain for (plain, _), (whole, _) in pairs),
        )

    async def _once(self, name: str) -> tuple[float, float]:
        """Read a list; return the CPU of all, and of its page."""
        is_search = name.startswith(_SEARCH)
        start = None if is_search else datetime.now(UTC) - _WINDOW
        wanted = PayoutFilterBody(**CASES[name])
        query = PayoutQuery(wanted=wanted, start=start, end=None, limit=FOUND_AT_MOST)
        begun = _cpu_s(self.server)
        await self.directory.page(query, EVERY_COMPANY)
        page = _cpu_s(self.server) - begun
        if not is_search:
            await self.directory.counts(query, EVERY_COMPANY)
        return _cpu_s(self.server) - begun, page


async def measure(
    url: str, server: int | None, rounds: int, only: Sequence[str]
) -> Mapping[str, Cost]:
    """Measure every list, or those whose names have one of these words."""
    store = open_store(url, _PATIENT)
    reader = Reader(PayoutDirectory(store.database), server)
    names = [each for each in CASES if not only or any(word in each for word in only)]
    try:
        return {each: await reader.cost(each, rounds) for each in names}
    finally:
        await store.close()


def report(database: str, rows: int, found: Mapping[str, Cost]) -> None:
    """Print a table."""
    print(f"\n{database}, {rows:,} payouts, CPU of database and gateway")
    print("| List | ms | page alone, ms | / plain list |")
    print("| --- | --- | --- | --- |")
    for name, cost in found.items():
        print(f"| {name} | {cost.list_ms:.1f} | {cost.page_ms:.1f} | {cost.ratio:.2f} |")


@contextmanager
def _database(kind: str, folder: str) -> Iterator[tuple[str, int | None]]:
    """Serve a database; yield its address, and its first process where it is a server."""
    if kind == "sqlite":
        yield f"sqlite:///{folder}/store.db", None
        return
    with postgres.running(settings=_SETTINGS) as server:
        yield server.plain, server.pid


def main(arguments: Sequence[str]) -> int:
    """Measure on each database."""
    parser = argparse.ArgumentParser(prog="bench/lists.py")
    parser.add_argument("--payouts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--database", choices=("sqlite", "postgres"), action="append")
    parser.add_argument("--only", nargs="*", default=(), help="words of the names of lists")
    asked = parser.parse_args(arguments)
    for kind in asked.database or ("sqlite", "postgres"):
        with tempfile.TemporaryDirectory(prefix="lists-") as folder:
            try:
                with _database(kind, folder) as (url, server):
                    asyncio.run(fill(url, asked.payouts))
                    found = asyncio.run(measure(url, server, asked.rounds, asked.only))
            except pytest.skip.Exception as absent:
                print(f"PostgreSQL is left out: {absent}")
                continue
        report(kind, asked.payouts, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
