"""What is measured: each a running process, a request to it, and the one right answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import stub, system
from bench.load import Order
from bench.partner import Place, make_partner, write_configuration, write_request
from bench.proxy import CANNED

PROXY = "bare aiohttp proxy"
CANNED_ANSWER = "aiohttp, canned answer"
BALANCE = "gateway, balance"
REFUSED = "gateway, 401 for a wrong secret"
WORKERS = "gateway, balance, 2 processes"

_HERE = Path(__file__).parent
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
}
_REFUSAL = b'{"code":"SVC.AUT.010","message":"The credentials are invalid.","trace_id":"*"}'
_TRACE_ID = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    One row of the table.

    Attributes:
        pid: The first of its processes; several subjects may share them.
        right: The answer as ``load.ask`` returns it.
        slow: The order for the account whose bank takes its time; None where
            nobody asks for the memory under many conversations.
    """

    name: str
    pid: int
    order: Order
    right: str
    slow: Order | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that runs; ``bank`` is the stub's process."""

    bank: int
    subjects: Sequence[Subject]


@dataclass(frozen=True, slots=True)
class _Stage:
    """Where processes are started, to be ended with ``started``."""

    started: ExitStack
    folder: Path
    cores: system.Cores

    def script(self, name: str, core: int | None, port: int, *options: str) -> int:
        """Start a script of this folder; any answer of it is a sign of life."""
        command = [sys.executable, str(_HERE / name), "--port", str(port), *options]
        starting = system.running(command, core, self.folder, lambda: system.answers(port) > 0)
        return self.started.enter_context(starting)

    def gateway(self, config: Path, operations: Sequence[int], *options: str) -> int:
        """Start a gateway; it is there when all its operations listeners say so."""
        command = [sys.executable, "-m", "gateway", "serve", "--config", str(config), *options]

        def is_ready() -> bool:
            return all(system.answers(port, "/readyz") == _OK for port in operations)

        starting = system.running(command, self.cores.measured, self.folder, is_ready)
        return self.started.enter_context(starting)


@contextmanager
def standing(folder: Path, database: str) -> Iterator[Scene]:
    """
    Start everything and keep it running, idle until it is asked.

    Args:
        folder: Of what the gateways write.
        database: Address of a PostgreSQL database; without one there is no
            gateway of two processes, for a file has one writer.

    Raises:
        NotStarted: one of them did not come up.
    """
    with ExitStack() as started:
        stage = _Stage(started, folder, system.cores())
        [port] = system.free_ports(1)
        bank = stage.script("stub.py", stage.cores.others, port)
        yield Scene(
            bank=bank, subjects=[*_references(stage, port), *_gateways(stage, port, database)]
        )


def _references(stage: _Stage, bank: int) -> Iterator[Subject]:
    """Start what the gateway is compared with."""
    upstream = ["--upstream", f"http://127.0.0.1:{bank}"]
    plain, slow = (
        write_request(stub.path(account), f"Bearer {stub.TOKEN}")
        for account in (stub.ACCOUNT, stub.SLOW_ACCOUNT)
    )
    for name, options, body in ((PROXY, upstream, stub.BALANCE), (CANNED_ANSWER, [], CANNED)):
        [port] = system.free_ports(1)
        yield Subject(
            name=name,
            pid=stage.script("proxy.py", stage.cores.measured, port, *options),
            order=Order(port=port, request=plain),
            right=_right("200 OK", _HEADERS[PROXY], body),
            slow=Order(port=port, request=slow) if options else None,
        )


def _gateways(stage: _Stage, bank: int, database: str) -> Iterator[Subject]:
    """Start the gateway, and with a server for its store a second one, of two processes."""
    place = _place(stage, bank, database)
    config = write_configuration(place)
    partner = make_partner(config)
    pid = stage.gateway(config, [place.operations])
    plain, slow = map(partner.request, (partner.account, partner.slow_account))
    right = _right("200 OK", _HEADERS[BALANCE], CANNED)
    yield Subject(
        name=BALANCE,
        pid=pid,
        order=Order(port=place.port, request=plain),
        right=right,
        slow=Order(port=place.port, request=slow),
    )
    yield Subject(
        name=REFUSED,
        pid=pid,
        order=Order(port=place.port, request=partner.refused_request(), status=_UNAUTHORIZED),
        right=_right("401 Unauthorized", _HEADERS[REFUSED], _REFUSAL, _TRACE_ID - 1),
    )
    if database:
        place = _place(stage, bank, database)
        operations = [place.operations, place.operations + 1]
        pid = stage.gateway(write_configuration(place), operations, "--workers", "2")
        yield Subject(
            name=WORKERS, pid=pid, order=Order(port=place.port, request=plain), right=right
        )


def _place(stage: _Stage, bank: int, database: str) -> Place:
    """Choose ports; the second process has its operations listener one above the first."""
    port, operations, _ = system.free_ports(3)
    return Place(
        folder=stage.folder, database=database, port=port, operations=operations, bank=bank
    )


def _right(status: str, headers: Sequence[str], body: bytes, masked: int = 0) -> str:
    """Write an answer as ``load.ask`` returns it; ``masked`` bytes of the body are not shown."""
    length = f"Content-Length: {len(body) + masked}"
    return "\n".join([f"HTTP/1.1 {status}", *sorted([*headers, length]), "", body.decode()])
