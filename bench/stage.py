"""Where a run takes place: the bank, and the processes that are measured."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench import system
from bench.partner import GatewaySite, write_configuration
from bench.rounds import WrongAnswer
from bench.trees import OURS, modules_of, unpacked
from tests.servers import postgres
from tests.servers.postgres import PostgresServer
from tests.servers.process import free_port

_HERE = Path(__file__).parent
_OK = 200


@dataclass(frozen=True, slots=True)
class Stage:
    """Where processes are started, to be ended with ``started``; ``bank`` is the stub's port."""

    started: ExitStack
    folder: Path
    cores: system.Cores
    bank: int

    def script(self, name: str, *options: str) -> tuple[int, int]:
        """Start a script of this folder on the core that is measured: its process and port."""
        port = free_port()
        command = [sys.executable, str(_HERE / name), "--port", str(port), *options]
        return self.start(command, port), port

    def start(self, command: Sequence[str], port: int) -> int:
        """Start a program on that core; it is there when something answers at its port."""
        running = system.running(
            command, self.cores.measured, self.folder, lambda: system.answers(port) > 0
        )
        return self.started.enter_context(running)

    def site(self, name: str, tree: Path, database: str = "") -> GatewaySite:
        """Make a folder and choose ports."""
        folder = self.folder / name
        folder.mkdir()
        port = free_port()
        return GatewaySite(
            tree=tree,
            folder=folder,
            database=database,
            port=port,
            operations=port + 1,
            bank=self.bank,
        )

    def gateway(self, site: GatewaySite, *, on_asyncio: bool = False) -> int:
        """Start a gateway, on uvloop or not; it is there when its operations listener says so."""
        config = str(write_configuration(site))
        program = [str(_HERE / "on_asyncio.py")] if on_asyncio else ["-m", "gateway"]
        command = [sys.executable, "-P", *program, "serve", "--config", config]

        def is_ready() -> bool:
            return system.answers(site.operations, "/readyz") == _OK

        with modules_of(site.tree):
            running = system.running(command, self.cores.measured, self.folder, is_ready)
            return self.started.enter_context(running)

    def server(self) -> PostgresServer | None:
        """Start a PostgreSQL server that flushes as it should; None where there is none."""
        try:
            return self.started.enter_context(postgres.running(settings=()))
        except pytest.skip.Exception as absent:
            print(f"PostgreSQL is left out: {absent}")
            return None


@contextmanager
def staged(*bank_options: str) -> Iterator[Stage]:
    """Keep a bank running, and whatever is started beside it; raises NotStarted."""
    system.raise_file_limit()
    cores = system.cores()
    system.pin(os.getpid(), cores.others)
    with ExitStack() as started:
        made = tempfile.TemporaryDirectory(prefix="pixgate-bench-", ignore_cleanup_errors=True)
        folder, port = Path(started.enter_context(made)), free_port()
        command = [sys.executable, str(_HERE / "bank.py"), "--port", str(port), *bank_options]
        started.enter_context(
            system.running(command, cores.others, folder, lambda: system.answers(port) > 0)
        )
        yield Stage(started, folder, cores, port)


def trees(folder: Path, before: str | None) -> Iterator[tuple[str, Path]]:
    """Name the trees that are measured, by what follows a row's name: ours, and a commit's."""
    yield "", OURS
    if before:
        yield f", {before}", unpacked(folder / "before", before)


def command(
    description: str, figures: Sequence[str], measure: Callable[[argparse.Namespace], int]
) -> int:
    """Run a bench as a command; a wrong answer, or what does not start, is its last line."""
    parser = argparse.ArgumentParser(description=description.partition("\n\n")[0].strip())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--only", nargs="+", choices=figures, help="figures to take")
    parser.add_argument("--before", help="a commit of this clone to measure beside this tree")
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    try:
        return measure(parser.parse_args())
    except (WrongAnswer, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
