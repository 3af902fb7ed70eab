"""Gateways that pay, each on a database, and what a round of payouts through one takes."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from bench import payments, postgres, system
from bench.earlier import OURS, modules_of
from bench.figures import Round
from bench.partner import GatewaySite, write_configuration
from bench.tills import Messages, Tally, Till
from bench.writing import NotStored, stored
from gateway.store.engine import open_store

FILE, SERVER = "gateway, payout, SQLite", "gateway, payout, PostgreSQL"
_HERE = Path(__file__).parent
_WORKER = "gateway/runtime/worker"
_PATIENCE_S = 600
_LAST_ANSWERS_S = 600.0
_OK = 200
_NO_CHECKS = "UPDATE payouts SET next_check_at = NULL WHERE next_check_at IS NOT NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    A gateway that pays.

    Attributes:
        head: Of every request, up to its length.
        server: The first process of the database's, None for a file.
    """

    name: str
    url: str
    pid: int
    port: int
    head: bytes
    server: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """
    What is started.

    Attributes:
        only: One of ``FILE`` and ``SERVER``; None for both.
        similar_s: How far back the guard against similar payouts looks; None as it comes.
        ahead: Connections to the bank that are opened ahead for payouts.
        earlier: Another tree, whose gateways are started too.
        bank: The port that the bank gets.
    """

    only: str | None = None
    similar_s: float | None = None
    ahead: int = 0
    earlier: Path | None = None
    bank: int = field(default_factory=lambda: system.free_ports(1)[0])

    @property
    def trees(self) -> Sequence[Path]:
        """Ours, and the other one if there is one."""
        return (OURS,) if self.earlier is None else (OURS, self.earlier)


@dataclass(frozen=True, slots=True)
class _Instant:
    """What the clocks say: the world's, the gateway's, the server's, all cores', and the rest's."""

    at: float
    own: float
    server: float
    busy: float
    ours: float


def standing(stack: ExitStack, folder: Path, choice: Choice) -> Iterator[Subject]:
    """Start a bank, and a gateway for each database there is, of each tree; raises NotStarted."""
    bank = choice.bank
    command = [sys.executable, str(_HERE / "tills.py"), "--port", str(bank)]
    others = system.cores().others
    stack.enter_context(system.running(command, others, folder, lambda: system.answers(bank) > 0))
    start = partial(_gateway, stack, choice=choice)
    for number, tree in enumerate(choice.trees):
        if choice.only in {None, FILE}:
            yield start(folder / f"file{number}", tree, database=None)
        if choice.only in {None, SERVER} and (server := _server(stack)):
            yield start(folder / f"server{number}", tree, database=server)


def _server(stack: ExitStack) -> tuple[str, int] | None:
    """Start a PostgreSQL server, if there is one: its URL and its first process."""
    try:
        url = stack.enter_context(postgres.running())
    except postgres.NoServer as problem:
        print(f"PostgreSQL is left out: {problem}")
        return None
    return url, postgres.process_of(url)


def earlier(name: str) -> str:
    """Name the row of the other tree's gateway."""
    return f"{name}, earlier"


def _gateway(
    stack: ExitStack,
    folder: Path,
    tree: Path,
    *,
    database: tuple[str, int] | None,
    choice: Choice,
) -> Subject:
    folder.mkdir()
    url, server = database or ("", None)
    port, operations = system.free_ports(2)
    place = GatewaySite(
        folder=folder, database=url, port=port, operations=operations, bank=choice.bank
    )
    config = _config(place, choice, tree)
    name = FILE if server is None else SERVER
    # -P: the modules of the tree, whatever folder this was started in
    command = [sys.executable, "-P", "-m", "gateway", "serve", "--config", str(config)]

    def is_ready() -> bool:
        return system.answers(operations, "/readyz") == _OK

    with modules_of(tree):
        head = _head(config)
        running = system.running(command, system.cores().measured, folder, is_ready)
        pid = stack.enter_context(running)
    return Subject(
        name=name if tree == OURS else earlier(name),
        pid=pid,
        url=url or f"sqlite:///{next(folder.glob('*.db'))}",
        port=port,
        head=head,
        server=server,
    )


def _config(place: GatewaySite, choice: Choice, tree: Path) -> Path:
    config = write_configuration(place)
    document = json.loads(config.read_bytes())
    if choice.similar_s is not None:
        document["payouts"] = {"similar_within_s": choice.similar_s}
    document["providers"]["sandbox"]["payout_connections"] = choice.ahead
    if not (tree / _WORKER).exists():
        del document["worker"]  # an earlier tree, which knows no other than one in the process
    config.write_text(json.dumps(document))
    return config


def _head(config: Path) -> bytes:
    """Make a partner that may pay; write what its requests begin with."""
    company = _made(config, "company", "create", "--name", "Bench")["id"]
    account = _made(
        config,
        *("account", "create", "--company", company, "--name", "Bench"),
        *("--tax-number", "11222333000181", "--active", "--verified"),
        *("--provider", "sandbox", "--provider-account", "bench", "--provider-credentials", "-"),
    )["id"]
    issued = _made(
        config,
        *("credential", "issue", "--name", "bench", "--company", company),
        *("--permission", "withdraw:write"),
    )
    pair = f"{issued['client_id']}:{issued['client_secret']}".encode()
    lines = [
        f"POST /baas/v1/account/{account}/withdraw HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Basic {base64.b64encode(pair).decode()}",
        "Content-Type: application/json",
        "Content-Length: ",
    ]
    return "\r\n".join(lines).encode()


def _made(config: Path, *command: str) -> Mapping[str, str]:
    """Run a command and read what it says."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gateway", *command, "--config", str(config), "--json"],
        check=True,
        stdout=subprocess.PIPE,
        input="token",
        text=True,
        timeout=_PATIENCE_S,
    )
    said: Mapping[str, str] = json.loads(done.stdout)
    return said


async def take_round(subject: Subject, seconds: float, connections: int) -> tuple[Round, float]:
    """
    Ask for payouts for a while; the round, and the database server's CPU per payout in µs.

    Raises:
        NotStored: one was refused, or told of and is not stored.
    """
    tally, before = Tally(), await _stored(subject)
    async with _paying(subject, tally, connections):
        start = _now(subject)
        await asyncio.sleep(seconds)
        await _answered(tally)
        end, answers, latencies_s = _now(subject), tally.answers, tally.latencies_s[:]
    kept = await _stored(subject) - before
    await _end_checks(subject)
    if tally.wrong or kept != tally.answers or not answers:
        problem = f"{subject.name}: {tally.answers} answers, {tally.wrong} wrong, {kept} stored"
        raise NotStored(problem)
    cuts = quantiles(latencies_s, n=100) if answers > 1 else latencies_s * 99
    lasted_s, cpu_s, server_s = end.at - start.at, end.own - start.own, end.server - start.server
    others_s = end.busy - start.busy - cpu_s - server_s - (end.ours - start.ours)
    taken = Round(
        answers=answers,
        seconds=lasted_s,
        cpu_s=cpu_s,
        other_cores=max(0.0, others_s / lasted_s),
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
        pss_mb=system.pss_mb(system.tree(subject.pid)),
    )
    return taken, server_s / answers * 1e6


async def _answered(tally: Tally) -> None:
    """Wait for a first answer: a machine on which none came in a short round is slow, not wrong."""
    async with asyncio.timeout(_LAST_ANSWERS_S):
        while not tally.answers:  # noqa: ASYNC110 - the reader of a connection only counts
            await asyncio.sleep(0.01)


@asynccontextmanager
async def _paying(subject: Subject, tally: Tally, connections: int) -> AsyncIterator[None]:
    """Keep partners asking for the length of the block; wait for their last answers."""
    loop, names = asyncio.get_running_loop(), payments.references()
    opened: list[tuple[Till, Messages]] = []
    for _ in range(connections):
        till = Till(subject.head, names, tally)
        make = partial(Messages, till.answered)
        connection = await loop.create_connection(make, "127.0.0.1", subject.port)
        opened.append((till, connection[1]))
    for till, messages in opened:
        till.ask(messages)
    yield
    tally.stopped = True
    end = loop.time() + _LAST_ANSWERS_S
    while tally.open and loop.time() < end:  # noqa: ASYNC110 - counted in callbacks
        await asyncio.sleep(0.01)
    for _, messages in opened:
        messages.transport.abort()


async def _stored(subject: Subject) -> int:
    store = open_store(subject.url)
    try:
        return await stored(store)
    finally:
        await store.close()


async def _end_checks(subject: Subject) -> None:
    """Have nobody look at the payouts so far: what is measured is their creation alone."""
    store = open_store(subject.url)
    try:
        async with store.database.writing() as connection:
            await connection.exec_driver_sql(_NO_CHECKS)
    finally:
        await store.close()


def _now(subject: Subject) -> _Instant:
    gateway = system.tree(subject.pid)
    server = [] if subject.server is None else system.tree(subject.server)
    rest = set(system.tree(os.getpid())) - {*gateway, *server}
    return _Instant(
        perf_counter(),
        system.cpu_s(gateway),
        system.cpu_s(server),
        system.busy_s(),
        system.cpu_s(rest),
    )
