"""
A server process or a worker: started by its supervisor, watched, and started again.

A pair of sockets joins the two. The child sends a byte each second; the supervisor sends how
many of each kind it wants and how many are ready. When one of them ends, so does the link.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from gateway.domain.kernel.clocks import Monotonic

NO_LINES: Final = -1
BEAT: Final = b"."
READY: Final = b"r"
SILENT_S: Final = 10.0
"""Without a beat for so long a process is killed; no work of ours blocks its loop for a second."""
_STARTING_S: Final = 60.0
"""Until the first beat: a start takes three seconds, and many times that on a busy machine."""
_MOST_TURN_S: Final = 1.0
"""Counted for one turn at most: when the supervisor itself stood still, so did its children."""
_FIRST_S: Final = 0.2
_LONGEST_S: Final = 30.0
_READ_BYTES: Final = 4096


@dataclass(slots=True)
class Backoff:
    """
    How long a dead process is left dead: 0.2 s, doubled each time, 30 s at most.

    One that was ready for 30 s, or ended well when it was ready, begins anew.
    """

    _next_s: float = _FIRST_S

    def pause_s(self, ready_s: float, *, ended_well: bool) -> float:
        """Return the pause after a process that was ready for ``ready_s`` seconds."""
        if ready_s >= _LONGEST_S or (ready_s > 0 and ended_well):
            self._next_s = _FIRST_S
        pause_s, self._next_s = self._next_s, min(self._next_s * 2, _LONGEST_S)
        return pause_s


class Program(NamedTuple):
    """
    What runs in a place.

    Attributes:
        name: What the log calls it.
        number: From 0; its operations port is so many above the configured one.
        command: It is told its number, its link, who we are, and ``lines``.
        lines: The descriptor of its end of the request log's way to the worker.
    """

    name: str
    number: int
    command: Sequence[str]
    lines: int = NO_LINES


class Child:
    """
    The place of one process.

    Attributes:
        name, number: As its program says.
        failures: How often a process in this place has ended without having been ready.
        told: What the process was told last.
        must_reload: A SIGHUP came before the process could take one.
    """

    def __init__(self, program: Program, clock: Monotonic = time.monotonic) -> None:
        """Start nothing yet."""
        self.name = program.name
        self.number = program.number
        self._program = program
        self.failures = 0
        self.told = b""
        self.must_reload = False
        self._clock = clock
        self._backoff = Backoff()
        self._due = clock()
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._ready_at: float | None = None
        self._silent_s = 0.0
        self._has_beaten = False

    @property
    def is_there(self) -> bool:
        """Is there a process?"""
        return self._process is not None

    @property
    def is_ready(self) -> bool:
        """Does it serve, or work, as far as it has said?"""
        return self._ready_at is not None

    @property
    def is_due(self) -> bool:
        """Is there none, and is it time to start one?"""
        return self._process is None and self._clock() >= self._due

    def start(self) -> None:
        """
        Start a process; it is in a session of its own.

        What a terminal sends to all of us reaches it through us, once.

        Raises:
            OSError: the system has no room for another one; ``is_due`` is later then.
        """
        self._silent_s, self._has_beaten, self.told = 0.0, False, b""
        ours, theirs = socket.socketpair()
        with theirs:
            joined = map(str, (self.number, theirs.fileno(), os.getpid(), self._program.lines))
            try:
                self._process = subprocess.Popen(  # noqa: S603 - our own command
                    [*self._program.command, "--child", *joined],
                    start_new_session=True,
                    pass_fds=[each for each in (theirs.fileno(), self._program.lines) if each >= 0],
                )
            except OSError:
                ours.close()
                self._due = self._clock() + self._backoff.pause_s(0, ended_well=False)
                raise
        ours.settimeout(0)
        self._link = ours

    def listen(self) -> None:
        """Take what the process has said."""
        if self._link is None:
            return
        try:
            said = self._link.recv(_READ_BYTES)
        except OSError:  # nothing yet, or the process is ending
            return
        if said:
            self._silent_s, self._has_beaten = 0.0, True
            if READY in said and self._ready_at is None:
                self._ready_at = self._clock()

    def watch(self, turn_s: float) -> bool:
        """
        Kill the process when it has been silent for too long.

        Args:
            turn_s: Since the last turn, in seconds.

        Returns:
            Whether it was killed.
        """
        if self._process is None:
            return False
        self._silent_s += min(turn_s, _MOST_TURN_S)
        if self._silent_s < (SILENT_S if self._has_beaten else _STARTING_S):
            return False
        self._silent_s = 0.0
        self._process.kill()
        return True

    def send(self, number: int) -> None:
        """
        Send a signal; safe when there is no process.

        SIGHUP waits for the first beat: until then it would end the process.
        """
        if number == signal.SIGHUP:
            self.must_reload = self._process is not None
            self._send_reload()
        elif self._process is not None:
            self._process.send_signal(number)

    def tell(self, message: bytes) -> None:
        """Say something that a process has not been told yet, as soon as it can hear it."""
        self._send_reload()
        if self._link is None or not self._has_beaten or message == self.told:
            return
        with suppress(OSError):  # it is ending, or does not listen: its silence is watched
            self._link.send(message)
            self.told = message

    def reap(self) -> int | None:
        """
        Note the end of the process, and when the next one is due.

        Returns:
            Its exit status, negative for the signal that ended it; None while it runs.
        """
        status = self._process.poll() if self._process is not None else None
        if status is None or self._link is None:
            return None
        self.listen()
        now = self._clock()
        ready_s = 0.0 if self._ready_at is None else max(now - self._ready_at, _FIRST_S)
        self.failures += self._ready_at is None
        self._due = now + self._backoff.pause_s(ready_s, ended_well=not status)
        self._link.close()
        self._process = self._link = self._ready_at = None
        self.must_reload = False
        return status

    def waits_s(self) -> float:
        """Return the seconds until the next start is due; 0 where it is."""
        return max(0.0, self._due - self._clock())

    def _send_reload(self) -> None:
        """Pass a SIGHUP on that was waiting."""
        if self.must_reload and self._has_beaten and self._process is not None:
            self.must_reload = False
            self._process.send_signal(signal.SIGHUP)
