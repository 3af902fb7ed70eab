"""The child's side: it beats, shows what it is told, and ends with its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys

import click
import pytest

from gateway.cli.serve.parent import Parent, Processes, end_with, linked, show_processes
from gateway.telemetry.ports import Gauge
from tests.world.waiting import until

CHILD = """
import os, time
from gateway.cli.serve.parent import Parent, end_with
end_with(Parent(0, 0, os.getppid()))
print(flush=True)
time.sleep(600)
"""
GRANDPARENT = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {CHILD!r}])
time.sleep(60)
"""


async def test_a_child_beats_reports_that_it_is_ready_and_shows_the_processes():
    ours, theirs = socket.socketpair()
    shown: dict[Gauge, float] = {}
    ours.send(b"3 1 1 1\n3 2 1 0\n3 3")
    with ours:
        async with linked(Parent(0, theirs.detach(), 0), shown.__setitem__, 0) as link:
            link.tell_ready()
            said = b""
            while said.count(b".") < 2:
                said += await asyncio.to_thread(ours.recv, 99)
            ours.send(b" 1 0\n")
            await until(lambda: shown.get(Gauge.SERVER_PROCESSES_RUNNING) == 3)
            held = os.dup(ours.fileno())  # else the end of the link would end the test run

    assert sorted(said) == sorted(b"r..")
    assert shown == {
        Gauge.SERVER_PROCESSES_WANTED: 3,
        Gauge.SERVER_PROCESSES_RUNNING: 3,
        Gauge.WORKERS_WANTED: 1,
        Gauge.WORKERS_RUNNING: 0,
    }
    assert held


async def test_the_end_of_the_link_stops_the_process():
    received: list[int] = []
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, lambda: (received.append(1), stopped.set()))
    ours, theirs = socket.socketpair()
    async with linked(Parent(0, theirs.detach(), 0), lambda *_: None, 10_000):
        ours.close()
        await stopped.wait()
    loop.remove_signal_handler(signal.SIGTERM)

    assert received == [1]


def test_a_parent_that_is_dead_already_is_noticed():
    with pytest.raises(click.ClickException, match="has ended"):
        end_with(Parent(0, 0, -1))


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="the system tells it on Linux alone")
def test_the_system_ends_it_when_the_parent_is_killed():
    """The output that both write to ends with the last of them."""
    parent = subprocess.Popen([sys.executable, "-c", GRANDPARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    begun = parent.stdout.readline()

    parent.kill()
    parent.wait()

    with parent.stdout as said:
        assert (begun, said.read()) == (b"\n", b"")


def test_what_children_are_told_is_what_they_show():
    shown: dict[Gauge, float] = {}
    told = Processes(4, 3, 1, 0)

    show_processes(shown.__setitem__, Processes(*map(int, told.message().split())))

    assert tuple(shown.values()) == told


def test_the_way_of_the_request_log_is_taken_once_and_not_inherited_again():
    one, other = socket.socketpair()
    with one:
        taken = Parent(0, 0, 0, other.detach()).taken_lines()
        assert taken is not None
        with taken:
            assert not taken.get_inheritable()
    assert Parent(0, 0, 0).taken_lines() is None
