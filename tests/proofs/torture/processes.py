"""Gateways and the bank as processes of their own: started, killed, started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp

from provider_adapters.testing import simulators
from tests.servers.process import free_port
from tests.world.waiting import until

ROOT = Path(__file__).resolve().parents[3]
OFFSET, FAILPOINT = "PIXGATE_CLOCK_OFFSET", "PIXGATE_FAILPOINT"


def to_noon_s() -> int:
    """Seconds until noon in UTC: a clock so far ahead has hours left of its day."""
    now = datetime.now(UTC)
    noon = now.replace(hour=12, minute=0, second=0)
    return int((noon - now) % timedelta(days=1) / timedelta(seconds=1))


@dataclass(slots=True, kw_only=True)
class Command:
    """
    ``pixgate`` with these arguments, again and again.

    Attributes:
        log: Takes whatever it prints, every run of it.
        answers: The address that answers 200 once it is up.
        environ: Beside the environment of the campaign.
        within: The command that runs it, where it needs surroundings of its own.
        module: What runs.
        root: The tree of code it runs from.
        answered: Since it was started last, it has answered ``wait``.
    """

    arguments: list[str]
    log: Path
    answers: str
    environ: dict[str, str] = field(default_factory=dict)
    within: Sequence[str] = ()
    module: str = "gateway"
    root: Path = ROOT
    process: subprocess.Popen[bytes] | None = None
    answered: bool = False

    @property
    def runs(self) -> bool:
        """Whether it has been started and has not ended."""
        return self.process is not None and self.process.poll() is None

    @property
    def serves(self) -> bool:
        """Whether it has come up, as far as is known, and has not ended."""
        return self.answered and self.runs

    @property
    def returned(self) -> int | None:
        """Its exit code, negative where a signal ended it; None while it runs."""
        return None if self.process is None else self.process.poll()

    @property
    def lacked_its_store(self) -> bool:
        """Whether it ended in one line because its store did not answer."""
        last = self.said().rstrip().rpartition("\n")[2]
        return self.returned == 1 and last.startswith("Error: ")

    def start(self, **environ: str) -> None:
        """Start it; ``wait`` says when it is up."""
        self.answered = False
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*self.within, sys.executable, "-m", self.module, *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.root,
                env={**os.environ, **self.environ, **environ},
            )

    async def wait(self, session: aiohttp.ClientSession) -> bool:
        """Wait until it answers; False when it ended instead, as at a fail point."""

        async def is_decided() -> bool:
            self.answered = self.runs and await self._answers(session)
            return self.answered or not self.runs

        await until(is_decided)
        return self.answered

    async def ended(self) -> int:
        """Wait for its end; return its exit code, negative where a signal ended it."""
        await until(lambda: not self.runs)
        assert self.process is not None
        return int(self.process.returncode)

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it, now or by another signal."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)
            if number is signal.SIGKILL:
                self.process.wait()

    def said(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    async def _answers(self, session: aiohttp.ClientSession) -> bool:
        try:
            async with session.get(self.answers, timeout=aiohttp.ClientTimeout(total=2)) as said:
                return said.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False


def gateway(folder: Path, config: Path, name: str) -> tuple[Command, str]:
    port, ops = free_port(), free_port()
    command = Command(
        arguments=["serve", "--config", str(config)],
        log=folder / f"{name}.log",
        answers=f"http://127.0.0.1:{ops}/readyz",
        environ={"PIXGATE_PORT": str(port), "PIXGATE_OPS_PORT": str(ops)},
    )
    return command, f"http://127.0.0.1:{port}"


def worker(folder: Path, config: Path, name: str) -> Command:
    """Choose a port for a worker beside gateways that have none, and return it."""
    ops = free_port()
    return Command(
        arguments=["worker", "--config", str(config)],
        log=folder / f"{name}.log",
        answers=f"http://127.0.0.1:{ops}/readyz",
        environ={"PIXGATE_OPS_PORT": str(ops)},
    )


def bank(folder: Path, name: str) -> tuple[Command, int, str]:
    """Choose ports for a simulated bank; return it with its port and its control address."""
    first = free_port()
    port, control, _ = simulators.ports(name, first)
    command = Command(
        arguments=["bank", name, "--first-port", str(first), "--folder", str(folder)],
        log=folder / "bank.log",
        answers=f"http://127.0.0.1:{control}/control/clock",
    )
    return command, port, f"http://127.0.0.1:{control}"
