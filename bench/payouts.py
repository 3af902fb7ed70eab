"""
``make bench-payouts``: payouts created, and unsettled ones followed up, by the whole gateway.

Every answer to an order stands for an intent and an outcome on the disk, which are counted
afterwards; the bank takes each payout at once, and a balance of the same gateway stands beside it.
Payouts that the bank settles as it takes them stand beside the same with an endpoint.
Looks of the follow-up are counted in the store, without what a gateway uses when nothing is due.
Fails on a wrong answer or a payout that is not stored, never on a slow one unless asked to.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import uvloop
from sqlalchemy import text

from bench import rounds, stage, system, trees
from bench.bank import SETTLED, UNDECIDED
from bench.load import Order, traced
from bench.partner import GatewaySite, make_partner, write_configuration
from bench.rounds import Goal, Measured, Round, Subject, WrongAnswer
from bench.stage import Stage
from bench.trees import modules_of
from gateway.app.store import open_store
from tests.servers.process import free_port

FILE, SERVER = "SQLite", "PostgreSQL"
FOLLOW_UP = "follow-up"
EVENTS = "events"
FIGURES = (FILE, SERVER, FOLLOW_UP, EVENTS)
LOOKS = "payout looked at, SQLite"
BANKS = tuple(f"bank-{number}" for number in range(10))
BACKLOG = 30_000

_BEGINS_S, _WARMING_S = 20.0, 1.0
_ENDPOINT = "https://events.example.com/pix"
_HERE = Path(__file__).parent
_STORED = text("SELECT count(*) FROM payouts")
_LOOKED_AT = text("SELECT count(*) FROM payout_attempts WHERE last_probe_at IS NOT NULL")
_NO_CHECKS = text("UPDATE payouts SET next_check_at = NULL WHERE next_check_at IS NOT NULL")


def payout(database: str) -> str:
    """Name the row of payouts on a database."""
    return f"payout, {database}"


def settled(database: str) -> str:
    """Name the row of payouts that the bank settles as it takes them, which is an event."""
    return f"payout settled at once, {database}"


def told(database: str) -> str:
    """Name the row of the same payouts by a company that has an endpoint."""
    return f"{settled(database)}, with an endpoint"


def balance(database: str) -> str:
    """Name the row of balances beside it."""
    return f"balance, {database}"


def measure(options: argparse.Namespace) -> int:
    """
    Take the figures that were asked for.

    Raises:
        WrongAnswer: a payout was refused, or told of and not stored.
        NotStarted: a gateway did not come up.
    """
    figures, measured = set(options.only or FIGURES), Measured()
    with stage.staged() as scene:
        kept = list(stage.trees(scene.folder, options.before))
        subjects = list(_creating(scene, figures, kept, options.connections))
        measured.rounds = uvloop.run(rounds.take(subjects, options.rounds, options.seconds))
    if EVENTS in figures:
        with stage.staged("--taken", SETTLED) as scene:
            subjects = list(_telling(scene, options.connections))
            measured.rounds |= uvloop.run(rounds.take(subjects, options.rounds, options.seconds))
    if FOLLOW_UP in figures:
        with stage.staged("--state", UNDECIDED) as scene:
            filled = [
                _filled(scene, suffix, tree)
                for suffix, tree in stage.trees(scene.folder, options.before)
            ]
            for _ in range(options.rounds):
                for backlog in filled:
                    one = _looked_at(scene, backlog, options.seconds)
                    measured.rounds.setdefault(LOOKS + backlog.suffix, []).append(one)
    beside = [Goal(name, row, f"{row}, {options.before}") for name, row in BESIDE.items()]
    goals = [*GOALS, *(beside if options.before else ())]
    return rounds.close(measured, goals, check=options.check)


GOALS = (
    Goal("R20", payout(FILE), balance(FILE)),
    Goal("R21", payout(SERVER), balance(SERVER)),
    Goal("R25", told(FILE), settled(FILE)),
    Goal("R26", told(SERVER), settled(SERVER)),
)
BESIDE = {"R22": payout(FILE), "R23": payout(SERVER), "R24": LOOKS}


def _creating(
    scene: Stage, figures: set[str], kept: Sequence[tuple[str, Path]], connections: int
) -> Iterator[Subject]:
    """Start a gateway of each tree on each database."""
    for database in (FILE, SERVER):
        for number, (suffix, tree) in enumerate(kept if database in figures else ()):
            server = scene.server() if database == SERVER else None
            if database == SERVER and server is None:
                return
            site = scene.site(f"{database}{number}", tree, server.plain if server else "")
            partner = make_partner(site)
            pid = scene.gateway(site)
            order = Order(port=site.port, requests=partner.payout_requests())
            paying = Subject(
                name=payout(database) + suffix,
                pid=pid,
                order=order,
                connections=connections,
                database=server.pid if server else None,
                stored=partial(_stored, store_url(site)),
            )
            yield paying
            reading = replace(order, requests=traced(partner.request(partner.account)))
            name = balance(database) + suffix
            yield replace(paying, name=name, order=reading, stored=None)


def _telling(scene: Stage, connections: int) -> Iterator[Subject]:
    """
    Start two gateways on each database, one of them with an endpoint.

    Nothing is delivered, since it never answers a ping: its deliveries are written and wait.
    """
    for database in (FILE, SERVER):
        for name, endpoint in ((settled(database), ""), (told(database), _ENDPOINT)):
            folder = f"{EVENTS}-{database}{len(endpoint)}"
            server = scene.server() if database == SERVER else None
            if database == SERVER and server is None:
                return
            plain = server.plain if server else ""
            site = scene.site(folder, trees.OURS, plain)
            partner = make_partner(site, endpoint)
            yield Subject(
                name=name,
                pid=scene.gateway(site),
                order=Order(port=site.port, requests=partner.payout_requests()),
                connections=connections,
                database=server.pid if server else None,
                stored=partial(_stored, store_url(site)),
            )


def store_url(site: GatewaySite) -> str:
    """Write the address of a gateway's store."""
    return site.database or f"sqlite:///{site.folder}/pixgate.db"


async def _stored(url: str) -> int:
    """Count payouts, and have nobody look at them: what is measured is their creation alone."""
    store = open_store(url)
    try:
        async with store.database.writing() as connection:
            await connection.execute(_NO_CHECKS)
            return int((await connection.execute(_STORED)).scalar_one())
    finally:
        await store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """A gateway's store with payouts that are all due."""

    suffix: str
    site: GatewaySite


def _filled(scene: Stage, suffix: str, tree: Path) -> Backlog:
    """Have a tree make a store, and payouts in it that ten banks have taken and not decided."""
    site = replace(scene.site(f"backlog{suffix}", tree), banks=BANKS)
    partner = make_partner(site)
    filling = [sys.executable, "-P", str(_HERE / "unsettled.py")]
    filling += ["--config", str(write_configuration(site)), "--like", partner.account]
    with modules_of(tree):
        subprocess.run([*filling, "--payouts", str(BACKLOG), *BANKS], check=True)
    return Backlog(suffix=suffix, site=site)


def _looked_at(scene: Stage, backlog: Backlog, seconds: float) -> Round:
    """Have a gateway work its backlog off for a while; what it uses when idle is not counted."""
    taken = _watched(scene, backlog, seconds)
    idle = _watched(scene, backlog, seconds, due=False)
    if not taken.answers or taken.answers * 2 >= BACKLOG:
        problem = f"{taken.answers} looked at of {BACKLOG}"
        raise WrongAnswer(problem)
    return replace(taken, cpu_s=taken.cpu_s - idle.cpu_s)


def _watched(scene: Stage, backlog: Backlog, seconds: float, *, due: bool = True) -> Round:
    """Start a gateway on a copy of the store, and watch it once it is at work."""
    with ExitStack() as ends:
        place = Path(ends.enter_context(tempfile.TemporaryDirectory(dir=scene.folder))) / "site"
        shutil.copytree(backlog.site.folder, place)
        port = free_port()
        site = replace(backlog.site, folder=place, port=port, operations=port + 1)
        database = ends.enter_context(closing(sqlite3.connect(place / "pixgate.db")))
        if not due:
            database.execute(_NO_CHECKS.text)
            database.commit()
        own = replace(scene, started=ends)
        pid = own.gateway(site)
        looked_at = partial(_looks, database)
        system.until(lambda: not due or looked_at() > 0, _BEGINS_S)
        time.sleep(_WARMING_S)
        before, start = looked_at(), rounds.instant(pid)
        time.sleep(seconds)
        end, answers = rounds.instant(pid), looked_at() - before
        return rounds.lasted(start, end, answers, pss_mb=system.pss_mb(system.tree(pid)))


def _looks(database: sqlite3.Connection) -> int:
    return int(database.execute(_LOOKED_AT.text).fetchone()[0])


if __name__ == "__main__":
    sys.exit(stage.command(__doc__, FIGURES, measure))
