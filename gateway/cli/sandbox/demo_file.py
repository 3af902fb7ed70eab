"""Where the demo is kept: a file that its owner alone may read."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gateway.operations.demo.document import Demo
from gateway.operations.kernel.audit_context import RuleViolation


@dataclass(frozen=True, slots=True)
class DemoFile:
    """``DemoKeeper`` in one JSON file; a reader sees the old or the new one, never half."""

    path: Path

    def read(self) -> Demo | None:
        """Return what is kept; None when there is no file."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Demo)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as problem:
            message = f"{self.path} cannot be read as a demo; remove it to make another"
            raise RuleViolation(message) from problem

    def begin(self, demo: Demo) -> Demo:
        """Keep the first demo; return that of another process if it was faster."""
        written = self._written(demo)
        try:
            self.path.hardlink_to(written)
        except FileExistsError:
            return self.read() or demo
        finally:
            written.unlink()
        return demo

    def replace(self, demo: Demo) -> None:
        """Keep another state of it."""
        self._written(demo).replace(self.path)

    def _written(self, demo: Demo) -> Path:
        """Write a file beside ours; mkstemp makes it with mode 0600."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=self.path.parent, prefix=".demo-")
            with os.fdopen(number, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(demo), indent=2) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            message = f"{self.path} cannot be written: {problem.strerror}"
            raise RuleViolation(message) from problem
        return Path(name)
