"""Gateways of two trees that are started for a round, on PostgreSQL, with payouts that are due."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench import backlog, postgres, system
from bench.deciding import UNDECIDED
from bench.earlier import OURS, modules_of, unpacked
from bench.partner import GatewaySite, Partner, make_partner, write_configuration

BEFORE: Final = "the commit before"
INSIDE: Final = "no worker"
SAME: Final = "worker on the same core"
OTHER: Final = "worker on the other core"
_SCRIPTS: Final = Path(__file__).parent
_LATENCY_S: Final = 0.02
_PAYOUTS: Final = 20_000
"""Of each tree: more than a gateway can look at in a round."""
_OK: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Banks:
    """
    Two processes: the bank that tells balances, and those that do not decide on payouts.

    Attributes:
        names: Of the latter, as many as providers are configured.
    """

    balances: int
    balances_port: int
    payouts_port: int
    names: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A gateway that can be started again and again; several may have one store in turns."""

    name: str
    tree: Path
    place: GatewaySite
    config: Path
    partner: Partner

    @property
    def has_worker(self) -> bool:
        """Does a worker run beside it?"""
        return self.place.worker == "host"


@contextmanager
def prepared(folder: Path, commit: str, banks: int) -> Iterator[tuple[Banks, Sequence[Gateway]]]:
    """
    Run banks and databases, and fill the stores; the first gateway is what others are held to.

    That is the commit's, or where it is not to be had this tree's without a worker.
    """
    with ExitStack() as started:
        asked = _banks(started, folder, [f"bank-{number}" for number in range(banks)])
        ours = _filled(started, OURS, folder, asked)
        before = unpacked(folder, commit)
        if before is None:
            first = replace(ours, name=INSIDE)
        else:
            first = replace(_filled(started, before, folder, asked), name=BEFORE)
        beside = _beside(ours, asked)
        yield asked, [first, replace(beside, name=SAME), replace(beside, name=OTHER)]


@contextmanager
def running(gateway: Gateway, folder: Path) -> Iterator[int]:
    """Run a gateway whose payouts are all due, everything of it pinned as its name says."""
    asyncio.run(backlog.make_due(gateway.place.database))
    first = gateway.place.operations
    ports = [first, first + 1] if gateway.has_worker else [first]
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(gateway.config)]

    def is_ready() -> bool:
        return all(system.answers(port, "/readyz") == _OK for port in ports)

    with (
        chdir(gateway.tree),
        system.running(command, system.cores().measured, folder, is_ready) as pid,
    ):
        if gateway.name == OTHER:
            system.pin(_worker_of(pid), system.cores().others)
        yield pid


def _worker_of(supervisor: int) -> int:
    """Find the worker among a supervisor's processes."""
    for pid in system.tree(supervisor):
        if b"\0worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    problem = "there is no worker"
    raise system.NotStarted(problem)


def _banks(started: ExitStack, folder: Path, names: Sequence[str]) -> Banks:
    """Start both; the one that tells balances comes first, as whoever asks for them does."""
    balances, balances_port = _bank(started, folder, "stub.py")
    undecided = ("--state", UNDECIDED, "--latency", str(_LATENCY_S))
    _, payouts_port = _bank(started, folder, "deciding.py", *undecided)
    system.come_first(balances)
    return Banks(
        balances=balances, balances_port=balances_port, payouts_port=payouts_port, names=names
    )


def _bank(started: ExitStack, folder: Path, script: str, *options: str) -> tuple[int, int]:
    """Start a bank; return its process and its port."""
    [port] = system.free_ports(1)
    command = [sys.executable, str(_SCRIPTS / script), "--port", str(port), *options]
    answering = system.running(
        command, system.cores().others, folder, lambda: system.answers(port) > 0
    )
    return started.enter_context(answering), port


def _filled(started: ExitStack, tree: Path, folder: Path, banks: Banks) -> Gateway:
    """Have a tree make a store with a partner, and with payouts that the banks have taken."""
    database = started.enter_context(postgres.running())
    port, operations, _ = system.free_ports(3)
    place = GatewaySite(
        folder=Path(tempfile.mkdtemp(dir=folder)),
        database=database,
        port=port,
        operations=operations,
        bank=banks.balances_port,
        worker="inside" if tree == OURS else "",
    )
    config = _configured(place, banks)
    filling = [sys.executable, str(_SCRIPTS / "unsettled.py"), "--config", str(config)]
    filling += ["--payouts", str(len(banks.names)), *banks.names, "--like"]
    with chdir(tree), modules_of(tree):
        partner = make_partner(config)
        subprocess.run([*filling, partner.account], check=True)
    asyncio.run(backlog.copy(database, _PAYOUTS // len(banks.names)))
    return Gateway(name="", tree=tree, place=place, config=config, partner=partner)


def _beside(inside: Gateway, banks: Banks) -> Gateway:
    """Give it a worker, and ports of its own."""
    port, operations, _ = system.free_ports(3)
    place = replace(inside.place, worker="host", port=port, operations=operations)
    return replace(inside, place=place, config=_configured(place, banks))


def _configured(place: GatewaySite, banks: Banks) -> Path:
    """Add the banks that have the payouts; their limits are as they come."""
    config = write_configuration(place)
    document = json.loads(config.read_bytes())
    settings = {"base_url": f"http://127.0.0.1:{banks.payouts_port}"}
    document["providers"] |= {
        name: {"adapter": "sandbox", "settings": settings} for name in banks.names
    }
    config.write_text(json.dumps(document))
    return config
