"""One place of a supervisor: when it is filled again, and when its process counts as hung."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from gateway.cli.serve.child import SILENT_S, Backoff, Child, Program
from tests.world.waiting import block_until

PLAYED = """
import os, signal, socket, sys, time
number, descriptor, parent = map(int, sys.argv[-4:-1])
link = socket.socket(fileno=descriptor)
"""
"""A child with its end of the link, as the one that is really started has it."""


@dataclass(slots=True)
class Placed:
    """A place with a clock of the test's own."""

    program: str
    now: float = 1000.0
    place: Child = field(init=False)

    def __post_init__(self) -> None:
        command = [sys.executable, "-c", PLAYED + self.program]
        self.place = Child(Program("server process 7", 7, command), lambda: self.now)

    def start(self) -> Child:
        self.place.start()
        return self.place

    def ended(self) -> int:
        """Wait for the end of the process; return its status."""
        found: list[int] = []
        block_until(lambda: self._reaped(found))
        return found[0]

    def _reaped(self, found: list[int]) -> bool:
        self.place.listen()
        status = self.place.reap()
        found.extend([] if status is None else [status])
        return bool(found)


@pytest.fixture
def placed() -> Iterator[Callable[[str], Placed]]:
    """Make places; nothing of them is left at the end."""
    made: list[Placed] = []

    def make(program: str) -> Placed:
        made.append(Placed(program))
        return made[-1]

    yield make
    for each in made:
        if each.place.is_there:
            each.place.send(signal.SIGKILL)
            each.ended()


def test_the_pause_doubles_up_to_half_a_minute():
    backoff = Backoff()

    pauses = [backoff.pause_s(0, ended_well=False) for _ in range(10)]

    assert pauses == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30])


@pytest.mark.parametrize(
    ("ready_s", "ended_well", "begins_anew"),
    [
        pytest.param(30, False, True, id="ready for long"),
        pytest.param(29, False, False, id="ready, and killed"),
        pytest.param(1, True, True, id="ready, and stopped"),
        pytest.param(0, True, False, id="never ready"),
    ],
)
def test_what_makes_the_pause_short_again(ready_s: float, ended_well: bool, begins_anew: bool):
    backoff = Backoff()
    for _ in range(4):
        backoff.pause_s(0, ended_well=False)

    pause_s = backoff.pause_s(ready_s, ended_well=ended_well)

    assert pause_s == pytest.approx(0.2 if begins_anew else 3.2)


@pytest.mark.process
def test_it_is_told_its_number_and_its_parent_and_the_place_is_filled_again_after_a_pause(
    placed: Callable[[str], Placed],
):
    at = placed("link.send(b'.r'); sys.exit(number if parent == os.getppid() else 1)")
    place = at.start()
    before = (place.is_there, place.is_due)

    status = at.ended()

    assert (before, status, place.failures) == ((True, False), 7, 0)
    assert (place.is_there, place.is_ready, place.is_due) == (False, False, False)
    assert place.waits_s() == pytest.approx(0.2)
    at.now += 0.2
    assert place.is_due


@pytest.mark.process
def test_one_that_was_never_ready_is_a_failure(placed: Callable[[str], Placed]):
    at = placed("link.send(b'.'); sys.exit(1)")
    at.start()

    at.ended()

    assert at.place.failures == 1


@pytest.mark.process
@pytest.mark.parametrize(
    ("program", "allowed_s"),
    [
        pytest.param("link.send(b'.'); time.sleep(60)", SILENT_S, id="beat once"),
        pytest.param("time.sleep(60)", 60, id="still starting"),
    ],
)
def test_silence_for_too_long_is_killed_and_earlier_it_is_not(
    placed: Callable[[str], Placed], program: str, allowed_s: float
):
    """Only time in which the supervisor itself ran is counted, a second for one turn at most."""
    at = placed(program)
    place = at.start()
    if allowed_s == SILENT_S:
        block_until(lambda: place.listen() or place._has_beaten)

    turns = [place.watch(500) for _ in range(int(allowed_s) - 1)]
    patient = place.is_there and not any(turns)
    killed = place.watch(1)

    assert (patient, killed, at.ended()) == (True, True, -signal.SIGKILL)


@pytest.mark.process
def test_a_child_that_beats_is_never_killed(placed: Callable[[str], Placed]):
    at = placed("while True: link.send(b'.'); time.sleep(0.01)")
    place = at.start()

    killed = []
    for _ in range(3 * int(SILENT_S)):
        killed.append(place.watch(1))
        block_until(lambda: place.listen() or place._silent_s == 0)

    assert not any(killed)


@pytest.mark.process
def test_a_hangup_waits_until_it_cannot_end_the_process(placed: Callable[[str], Placed]):
    at = placed(
        "signal.signal(signal.SIGHUP, lambda *_: os._exit(5))\nlink.send(b'.')\ntime.sleep(60)"
    )
    place = at.start()
    place.send(signal.SIGHUP)

    block_until(lambda: place.listen() or place._has_beaten)
    place.tell(b"2 1\n")

    assert at.ended() == 5


@pytest.mark.process
def test_a_message_is_sent_once_and_not_before_it_is_heard(placed: Callable[[str], Placed]):
    at = placed(
        "link.send(b'.'); heard = b''\n"
        "while not heard.endswith(b'2 2\\n'): heard += link.recv(99)\n"
        "sys.exit(4 if heard == b'2 1\\n2 2\\n' else 1)"
    )
    place = at.start()
    place.tell(b"2 0\n")
    block_until(lambda: place.listen() or place._has_beaten)

    for _ in range(3):
        place.tell(b"2 1\n")
    place.tell(b"2 2\n")

    assert at.ended() == 4


def test_without_a_process_there_is_nothing_to_do():
    place = Child(Program("none", 0, ["none"]))

    place.send(signal.SIGTERM)
    place.send(signal.SIGHUP)
    place.tell(b"1 0\n")
    place.listen()

    assert (place.is_due, place.is_there, place.reap(), place.watch(100)) == (
        True,
        False,
        None,
        False,
    )


@pytest.mark.process
def test_one_that_the_system_cannot_start_is_tried_again_later():
    now = 0.0
    place = Child(Program("none", 0, ["/nowhere/to/be/found"]), lambda: now)

    with pytest.raises(OSError, match="nowhere"):
        place.start()

    assert (place.is_there, place.is_due, place.waits_s()) == (False, False, 0.2)
