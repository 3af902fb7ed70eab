"""The command line on a folder of the test's own, and a sandbox bank beside it."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gateway.app.commands.main import pixgate
from provider_adapters.testing.sandbox import SandboxBank

CONFIG = Path(__file__).resolve().parents[2] / "config.yaml"


@dataclass(slots=True)
class Shell:
    """
    Types commands.

    Attributes:
        folder: What they write into.
        environ: Variables they see beyond the process's own.
    """

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environ = {
            "PIXGATE_CONFIG": str(CONFIG),
            "PIXGATE_VAR": str(self.folder),
            "PIXGATE_DATABASE_URL": "",
            "PIXGATE_ENVIRONMENT": "",
            # Nobody listens there; at the usual port a demo may be running.
            "PIXGATE_BANK_PORT": "1",
            "PIXGATE_BANK_CONTROL_PORT": "2",
            **self.environ,
        }

    def run(self, *arguments: str, typed: str = "") -> Result:
        """Run a command to its end, however it ends."""
        runner = CliRunner()
        return runner.invoke(pixgate, arguments, env=self.environ, input=typed, prog_name="pixgate")

    def says(self, *arguments: str, typed: str = "") -> str:
        """Run a command that succeeds; return what it prints for people."""
        done = self.run(*arguments, typed=typed)
        assert done.exit_code == 0, done.output
        return done.stdout

    def reads(self, *arguments: str, typed: str = "") -> Any:
        """Run a command that succeeds; return what it prints for programs."""
        return json.loads(self.says(*arguments, "--json", typed=typed))

    def fails(self, *arguments: str, status: int = 1) -> str:
        """Run a command that fails as it should; return its line on standard error."""
        done = self.run(*arguments)
        assert (done.exit_code, done.stdout) == (status, ""), done.output
        return done.stderr.strip()


@contextmanager
def bank_beside(shell: Shell) -> Iterator[SandboxBank]:
    """Run a sandbox bank on free ports, in a thread of its own, where the shell looks for it."""
    bank = SandboxBank(db_path=str(shell.folder / "bank.db"), port=0, control_port=0)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(bank.start(), loop).result()
        shell.environ["PIXGATE_BANK_PORT"] = str(bank.port)
        shell.environ["PIXGATE_BANK_CONTROL_PORT"] = str(bank.control_port)
        yield bank
        asyncio.run_coroutine_threadsafe(bank.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
