"""Gateways and the bank as processes of their own: started, killed, started again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from tests.servers.process import free_port

ROOT = Path(__file__).resolve().parents[3]
START_S = 300.0
"""Starts are proven elsewhere; a machine that is busy with others has taken more than a minute."""
OFFSET, FAILPOINT = "PIXGATE_CLOCK_OFFSET", "PIXGATE_FAILPOINT"


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

    def start(self, **environ: str) -> None:
        """Start it; ``wait`` tells when it is up."""
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
        end = time.monotonic() + START_S
        while self.runs:
            if await self._answers(session):
                self.answered = True
                return True
            if time.monotonic() > end:
                raise TimeoutError(self.said())
            await asyncio.sleep(0.05)
        return False

    async def ended(self, within_s: float) -> bool:
        """Wait for its end; False when it still runs."""
        end = time.monotonic() + within_s
        while self.runs and time.monotonic() < end:
            await asyncio.sleep(0.02)
        return not self.runs

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it, now or by another signal."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)
            if number is signal.SIGKILL:
                self.process.wait()

    def said(self) -> str:
        """Return the end of what it printed."""
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    async def _answers(self, session: aiohttp.ClientSession) -> bool:
        try:
            async with session.get(self.answers, timeout=aiohttp.ClientTimeout(total=2)) as said:
                return said.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False


def gateway(folder: Path, config: Path, name: str) -> tuple[Command, str]:
    """Choose ports for a gateway and return it with its address."""
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
    port, control = free_port(), free_port()
    ports = ["--port", str(port), "--control-port", str(control)]
    command = Command(
        arguments=["bank", name, *ports, "--folder", str(folder)],
        log=folder / "bank.log",
        answers=f"http://127.0.0.1:{control}/control/clock",
    )
    return command, port, f"http://127.0.0.1:{control}"
