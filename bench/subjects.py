"""What is measured: each a running process, a request to it, and the one right answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import stub, system
from bench.load import Order
from bench.partner import Partner, Place, make_partner, write_configuration, write_request
from bench.proxy import CANNED

PROXY = "bare aiohttp proxy"
CANNED_ANSWER = "aiohttp, canned answer"
BALANCE = "gateway, balance"
REFUSED = "gateway, wrong secret: 401"
WORKERS = "gateway, balance, 2 processes"

_HERE = Path(__file__).parent
_OK = 200
_RIGHT = {
    PROXY: f"""HTTP/1.1 200 OK
Content-Length: {len(stub.BALANCE)}
Content-Type: application/json
Date: *
Server: *

{stub.BALANCE.decode()}""",
    CANNED_ANSWER: f"""HTTP/1.1 200 OK
Content-Length: {len(CANNED)}
Content-Type: application/json
Date: *
Server: *

{CANNED.decode()}""",
    BALANCE: f"""HTTP/1.1 200 OK
Cache-Control: no-store
Content-Length: {len(CANNED)}
Content-Type: application/json; charset=utf-8
Date: *
RateLimit-Policy: "read";q=1000000000;w=1000
RateLimit: "read";r=*;t=1
X-Trace-ID: *

{CANNED.decode()}""",
    REFUSED: """HTTP/1.1 401 Unauthorized
""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    One row of the table.

    Attributes:
        pid: The first of its processes; several subjects may share them.
        right: The answer as ``load.ask`` returns it.
        slow: The same of an account whose bank takes its time; None where
            memory under many conversations says nothing.
    """

    name: str
    pid: int
    order: Order
    slow: Order | None = None

    @property
    def right(self) -> str:
        """The answer, as ``load.ask`` returns it."""
        return _RIGHT[BALANCE if self.name == WORKERS else self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that runs; ``bank`` is the stub's process."""

    bank: int
    subjects: Sequence[Subject]


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
        bank_port, proxy_port, canned_port = system.free_ports(3)
        bank = stage.script("stub.py", stage.cores.others, bank_port)
        upstream = f"http://127.0.0.1:{bank_port}"
        subjects = [
            stage.reference(PROXY, proxy_port, "--upstream", upstream),
            stage.reference(CANNED_ANSWER, canned_port),
            *stage.gateways(bank_port, database),
        ]
        yield Scene(bank=bank, subjects=subjects)


@dataclass(frozen=True, slots=True)
class _Stage:
    """Starts processes that end with ``started``."""

    started: ExitStack
    folder: Path
    cores: system.Cores

    def script(self, name: str, core: int | None, port: int, *options: str) -> int:
        """Start a script of this folder; any answer of its is a sign of life."""
        command = [sys.executable, str(_HERE / name), "--port", str(port), *options]
        ready = partial(_is_up, {port: "/"})
        return self._run(command, core, ready)

    def reference(self, name: str, port: int, *options: str) -> Subject:
        """Start what the gateway is compared with."""
        pid = self.script("proxy.py", self.cores.measured, port, *options)
        orders = [
            Order(port=port, request=write_request(stub.path(account), f"Bearer {stub.TOKEN}"))
            for account in (stub.ACCOUNT, stub.SLOW_ACCOUNT)
        ]
        return Subject(name=name, pid=pid, order=orders[0], slow=orders[1] if options else None)

    def gateways(self, bank: int, database: str) -> list[Subject]:
        """Start the gateway, and with a server for a store one of two processes too."""
        ports = iter(system.free_ports(5))
        place = Place(
            folder=self.folder,
            database=database,
            port=next(ports),
            operations=next(ports),
            bank=bank,
        )
        config = write_configuration(place)
        partner = make_partner(config)
        pid = self._gateway(config, {place.operations: "/readyz"})
        return [
            _balance(BALANCE, pid, place.port, partner),
            Subject(name=REFUSED, pid=pid, order=_order(place.port, partner.refused_request(), 401)),
        ]

    def _gateway(self, config: Path, ready: Mapping[int, str], *options: str) -> int:
        command = [sys.executable, "-m", "gateway", "serve", "--config", str(config), *options]
        return self._run(command, self.cores.measured, partial(_is_up, ready, _OK))
