"""A fresh clone in a folder of its own, and the service that ``make run`` starts in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import Any

from tests.servers.process import free_port
from tests.world.waiting import block_until

ROOT = Path(__file__).resolve().parents[3]
NEEDED = ("bash", "curl", "git", "make", "python3")
COMMAND_S = 180
STOP_S = 120  # longer than a drain
# What an outer `make test`, a hook or a developer's shell would tell the inner commands.
FOREIGN = ("COV", "GIT_", "MAKE", "MFLAGS", "PIXGATE_", "PYTEST", "PYTHON", "TEST_", "VIRTUAL_ENV")
PORT = re.compile(r"\bPIXGATE_\w*PORT\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one ``curl`` got."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def verdict(self) -> tuple[int, str]:
        """Status, and the error's code or the payout's status."""
        return self.status, self.document.get("code") or self.document.get("status", "")


class Checkout:
    """What was committed, cloned; its ports are free ones, by the variables the README names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "pixgate"
        self._home = folder / "curl"
        self._home.mkdir()
        (self._home / ".curlrc").write_text(f'dump-header = "{self._home}/headers"\n')
        self.environ = {
            **{name: text for name, text in os.environ.items() if not name.startswith(FOREIGN)},
            "CURL_HOME": str(self._home),
        }
        self.says(f"git clone --quiet '{ROOT}' '{self.folder}'", cwd=folder)
        self.readme = (self.folder / "README.md").read_text()
        names = sorted(set(PORT.findall(self.readme)))
        self.environ.update({name: str(free_port()) for name in names})

    def says(self, line: str, *, cwd: Path | None = None) -> str:
        """Run a line of shell that succeeds, by default in the clone; return what it prints."""
        done = subprocess.run(
            ["bash", "-c", line],  # noqa: S607 - whichever the reader has
            check=False,
            capture_output=True,
            text=True,
            cwd=cwd or self.folder,
            env=self.environ,
            timeout=COMMAND_S,
        )
        assert done.returncode == 0, f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def calls(self, line: str) -> Answer:
        """Run a ``curl`` exactly as printed; its settings file alone has it note the headers."""
        body = self.says(line)
        first, _, rest = (self._home / "headers").read_text().partition("\n")
        headers = dict(Parser().parsestr(rest))
        return Answer(status=int(first.split()[1]), headers=headers, body=body)


class Service:
    """``make run`` in a checkout; may be started again after it ended."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.curls: list[str] = []
        self._log = checkout.folder.parent / "log"

    def start(self) -> None:
        """Start it, and wait until it has printed ten calls."""
        with self._log.open("wb") as output:
            self._make = subprocess.Popen(
                ["make", "run"],  # noqa: S607 - whichever the reader has
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.checkout.folder,
                env=self.checkout.environ,
                start_new_session=True,
            )
        block_until(lambda: self._make.poll() is not None or len(self._printed()) == 10)
        self.curls = self._printed()
        assert self._make.poll() is None, self._log.read_text()[-3000:]

    def levels_at_start(self) -> set[str]:
        """Return the levels of what it logged until it was there."""
        lines = [line for line in self._log.read_text().splitlines() if line.startswith("{")]
        logged = [json.loads(line) for line in lines]
        names = [line["event"] for line in logged]
        return {line["level"] for line in logged[: names.index("sys_startup") + 1]}

    def kill(self) -> None:
        """End the whole group with ``kill -9``."""
        os.killpg(self._make.pid, signal.SIGKILL)
        self._make.wait(STOP_S)

    def stop(self, number: signal.Signals) -> int:
        """Ask the service, not ``make``, to end; return the status ``make`` was left with."""
        make = self._make.pid
        (service,) = Path(f"/proc/{make}/task/{make}/children").read_text().split()
        os.kill(int(service), number)
        return self._make.wait(STOP_S)

    def close(self) -> None:
        """Leave nothing running, however a test ended."""
        if self._make.poll() is None:
            self.kill()

    def _printed(self) -> list[str]:
        """The calls printed so far, without an unfinished line."""
        lines = self._log.read_text().splitlines(keepends=True)
        return [line.strip() for line in lines if line.startswith("curl ") and line.endswith("\n")]


def missing() -> list[str]:
    """Name the programs a reader of the README needs and this machine lacks."""
    return [name for name in NEEDED if shutil.which(name) is None]
