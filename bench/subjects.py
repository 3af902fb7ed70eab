"""What is measured: each a running process, a request to it, and the one right answer."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench import movements, postgres, stub, system
from bench.load import Load, Order
from bench.partner import (
    GatewaySite,
    Partner,
    Prepared,
    make_partner,
    write_configuration,
    write_request,
)
from bench.proxy import CANNED
from bench.rounds import Subject

PROXY = "bare aiohttp proxy"
CANNED_ANSWER = "aiohttp, canned answer"
BALANCE = "gateway, balance"
WOOVI = "gateway, balance at woovi"
SILENT = "gateway, balance, telling nothing"
REFUSED = "gateway, 401 for a wrong secret"
STATEMENT = "gateway, statement of 100 rows"
WORKERS = "gateway, balance, 2 processes"
SLOW_PROXY = "bare aiohttp proxy, bank at 20 ms"
SLOW = "gateway, bank at 20 ms"

FIGURES = ("cpu", "slow", "rate", "workers")
"""What systems are started for; see ``Subject.figure``."""

RATES = (1000, 4000)
CONVERSATIONS = 512
LATENCY_MS = 20

_HERE = Path(__file__).parent
_GATEWAY = (sys.executable, "-m", "gateway")
_OK = 200
_UNAUTHORIZED = 401
_HEADERS = {
    PROXY: ["Content-Type: application/json", "Date: *", "Server: *"],
    BALANCE: [
        "Cache-Control: no-store",
        "Content-Type: application/json; charset=utf-8",
        "Date: *",
        'RateLimit-Policy: "read";q=1000000000;w=1000',
        'RateLimit: "read";r=*;t=1',
        "X-Trace-ID: *",
    ],
    REFUSED: [
        "Cache-Control: no-store",
        "Content-Type: application/json; charset=utf-8",
        "Date: *",
        'WWW-Authenticate: Basic realm="baas", charset="UTF-8"',
        "X-Trace-ID: *",
    ],
    stub.ACCOUNT: ["Content-Type: application/json"],
}
_REFUSAL = b'{"code":"SVC.AUT.010","message":"The credentials are invalid.","trace_id":"*"}'
CANNED_AT_WOOVI = b'{"balance":10000.00,"blocked":50.00,"updated_at":""}'
"""That bank does not tell of when a balance is."""
_TRACE_ID = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that runs; ``bank`` is the stub's process."""

    bank: int
    subjects: Sequence[Subject]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """The stub."""

    pid: int
    port: int


@dataclass(frozen=True, slots=True)
class Stage:
    """
    Where processes are started, to be ended with ``started``.

    Attributes:
        prepared: The store that every gateway starts from, its partner included.
    """

    started: ExitStack
    folder: Path
    cores: system.Cores
    bank: Bank
    prepared: Prepared

    def script(self, name: str, *options: str) -> tuple[int, int]:
        """Start a script of this folder; return its process and its port."""
        [port] = system.free_ports(1)
        command = [sys.executable, str(_HERE / name), "--port", str(port), *options]
        starting = system.running(
            command, self.cores.measured, self.folder, lambda: system.answers(port) > 0
        )
        return self.started.enter_context(starting), port

    def place(self, name: str, database: str = "") -> GatewaySite:
        """
        Choose ports, and make a folder with the prepared store.

        A second process has its operations listener one above the first.
        """
        port, operations, _ = system.free_ports(3)
        folder = self.folder / name
        shutil.copytree(self.prepared.folder, folder)
        return GatewaySite(
            folder=folder,
            database=database,
            port=port,
            operations=operations,
            bank=self.bank.port,
        )

    def gateway(
        self, place: GatewaySite, command: Sequence[str] = _GATEWAY, workers: int = 1
    ) -> int:
        """Start a gateway; it is there when all its operations listeners say so."""
        config = str(write_configuration(place))
        options = ["serve", "--config", config, *(["--workers", str(workers)] * (workers > 1))]

        def is_ready() -> bool:
            ports = range(place.operations, place.operations + workers + (place.worker == "host"))
            return all(system.answers(port, "/readyz") == _OK for port in ports)

        def start() -> AbstractContextManager[int]:
            return system.running([*command, *options], self.cores.measured, self.folder, is_ready)

        with start():  # whatever is compiled for the first time leaves its traces in the memory
            pass
        return self.started.enter_context(start())


@contextmanager
def staged(folder: Path, prepared: Prepared) -> Iterator[Stage]:
    """Keep a bank running in a new folder, and whatever is started beside it; raises NotStarted."""
    folder.mkdir()
    with ExitStack() as started:
        cores = system.cores()
        [port] = system.free_ports(1)
        command = [sys.executable, str(_HERE / "stub.py"), "--port", str(port)]
        answering = system.running(command, cores.others, folder, lambda: system.answers(port) > 0)
        pid = started.enter_context(answering)
        yield Stage(started, folder, cores, Bank(pid=pid, port=port), prepared)


@contextmanager
def standing(
    folder: Path, prepared: Prepared, figures: Collection[str], connections: int
) -> Iterator[Scene]:
    """
    Start what these figures need and keep it running, idle until it is asked.

    Raises:
        NotStarted: something did not come up.
        NoServer: there is no PostgreSQL for ``workers``: a file has one writer.
    """
    with staged(folder, prepared) as stage:
        subjects = list(_standing(stage, figures, Load(connections=connections)))
        wanted = [each for each in subjects if each.figure in figures]
        yield Scene(bank=stage.bank.pid, subjects=wanted)


def _standing(stage: Stage, figures: Collection[str], load: Load) -> Iterator[Subject]:
    if {"cpu", "slow"} & set(figures):
        yield from _references(stage, load)
    if {"cpu", "slow", "rate"} & set(figures):
        yield from _gateways(stage, figures, load)
    if "cpu" in figures:
        yield _silent(stage, load)
    if "rate" in figures:
        yield from _direct(stage, load)
    if "workers" in figures:
        yield _workers(stage, load)


def _references(stage: Stage, load: Load) -> Iterator[Subject]:
    """Start what the gateway is compared with."""
    passing = proxy(stage, load)
    yield passing
    slow = replace(passing.order, request=_to_bank(stub.SLOW_ACCOUNT))
    yield replace(passing, name=SLOW_PROXY, order=slow, load=_many(), figure="slow")
    pid, port = stage.script("proxy.py")
    yield Subject(
        name=CANNED_ANSWER,
        pid=pid,
        order=Order(port=port, request=_to_bank(stub.ACCOUNT)),
        right=right_answer("200 OK", _HEADERS[PROXY], CANNED),
        load=load,
        figure="cpu",
    )


def proxy(stage: Stage, load: Load) -> Subject:
    """Start the bare proxy."""
    pid, port = stage.script("proxy.py", "--upstream", f"http://127.0.0.1:{stage.bank.port}")
    return Subject(
        name=PROXY,
        pid=pid,
        order=Order(port=port, request=_to_bank(stub.ACCOUNT)),
        right=right_answer("200 OK", _HEADERS[PROXY], stub.BALANCE),
        load=load,
        figure="cpu",
    )


def _gateways(stage: Stage, figures: Collection[str], load: Load) -> Iterator[Subject]:
    """Start the gateway on a file of its own, and ask it in every way."""
    reading, partner = gateway(stage, load), stage.prepared.partner
    yield reading
    if "cpu" in figures:
        yield _at_woovi(reading, partner)
    yield _refused(reading, partner)
    yield statement(reading, partner, movements.MOST)
    slow = replace(reading.order, request=partner.request(partner.slow_account))
    yield replace(reading, name=SLOW, order=slow, load=_many(), figure="slow")
    yield from (_at_rate(reading, per_s) for per_s in RATES)


def gateway(stage: Stage, load: Load) -> Subject:
    """Start the gateway; the partner asks for a balance."""
    place = stage.place("gateway")
    return balance(stage.gateway(place), place, stage.prepared.partner, load)


def balance(pid: int, place: GatewaySite, partner: Partner, load: Load) -> Subject:
    """Ask a running gateway for a balance."""
    return Subject(
        name=BALANCE,
        pid=pid,
        order=Order(port=place.port, request=partner.request(partner.account)),
        right=right_answer("200 OK", _HEADERS[BALANCE], CANNED),
        load=load,
        figure="cpu",
    )


def _at_woovi(reading: Subject, partner: Partner) -> Subject:
    """Ask the same gateway for a balance at another bank."""
    return replace(
        reading,
        name=WOOVI,
        order=replace(reading.order, request=partner.request(partner.woovi_account)),
        right=right_answer("200 OK", _HEADERS[BALANCE], CANNED_AT_WOOVI),
    )


def _refused(reading: Subject, partner: Partner) -> Subject:
    request = partner.mistyped_request()
    return replace(
        reading,
        name=REFUSED,
        order=replace(reading.order, request=request, status=_UNAUTHORIZED),
        right=right_answer("401 Unauthorized", _HEADERS[REFUSED], _REFUSAL, _TRACE_ID - 1),
    )


def statement(reading: Subject, partner: Partner, rows: int) -> Subject:
    """Ask for a statement instead of a balance."""
    return replace(
        reading,
        name=STATEMENT,
        order=replace(reading.order, request=partner.statement_request(rows)),
        right=right_answer("200 OK", _HEADERS[BALANCE], movements.as_gateway(rows, CANNED)),
    )


def _silent(stage: Stage, load: Load) -> Subject:
    """Start the gateway once more, with nobody listening to what it tells."""
    place = stage.place("silent")
    pid = stage.gateway(place, (sys.executable, str(_HERE / "silent.py")))
    return replace(balance(pid, place, stage.prepared.partner, load), name=SILENT)


def _direct(stage: Stage, load: Load) -> Iterator[Subject]:
    """Ask the bank without anything between: what load and machine add by themselves."""
    for per_s in RATES:
        yield Subject(
            name=at_rate("bank directly", per_s),
            pid=stage.bank.pid,
            order=Order(port=stage.bank.port, request=_to_bank(stub.ACCOUNT)),
            right=right_answer("200 OK", _HEADERS[stub.ACCOUNT], stub.BALANCE),
            load=replace(load, per_s=per_s),
            figure="rate",
        )


def _workers(stage: Stage, load: Load) -> Subject:
    """Start a gateway of two processes on one core."""
    place = stage.place("workers", stage.started.enter_context(postgres.running()))
    partner = make_partner(write_configuration(place))
    pid = stage.gateway(place, workers=2)
    return replace(balance(pid, place, partner, load), name=WORKERS, figure="workers")


def at_rate(system_name: str, per_s: int) -> str:
    """Name a system asked at a fixed rate."""
    return f"{system_name}, {per_s:,}/s"


def _at_rate(reading: Subject, per_s: int) -> Subject:
    load = replace(reading.load, per_s=per_s)
    return replace(reading, name=at_rate("gateway", per_s), load=load, figure="rate")


def _many() -> Load:
    return Load(connections=CONVERSATIONS)


def _to_bank(account: str) -> bytes:
    return write_request(stub.path(account), f"Bearer {stub.TOKEN}")


def right_answer(status: str, headers: Sequence[str], body: bytes, masked: int = 0) -> str:
    """Write an answer as ``load.ask`` returns it; ``masked`` bytes of the body are not shown."""
    length = f"Content-Length: {len(body) + masked}"
    return "\n".join([f"HTTP/1.1 {status}", *sorted([*headers, length]), "", body.decode()])
