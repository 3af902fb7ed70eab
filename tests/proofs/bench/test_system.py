"""What the kernel is asked: process trees, their time, their memory."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import system


def test_a_tree_has_the_children_of_children():
    inner = "import time; time.sleep(30)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    with subprocess.Popen([sys.executable, "-c", outer]) as process:
        deadline = time.monotonic() + 60
        while len(found := system.tree(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in reversed(found):
            os.kill(pid, 9)

    assert len(found) == 2
    assert found[0] == process.pid


def test_time_is_counted_in_seconds_of_work():
    mine = [os.getpid()]
    before, began = system.cpu_s(mine), time.process_time()
    while time.process_time() - began < 0.1:
        pass
    worked = system.cpu_s(mine) - before

    assert worked == pytest.approx(time.process_time() - began, abs=0.03)


def test_ports_are_consecutive_and_free():
    first, *others = system.free_ports(3)

    assert others == [first + 1, first + 2]
    assert system.answers(first) == 0


def test_memory_is_that_of_a_python_process():
    """Of a new one: how much this one holds depends on the tests before."""
    script = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        found = system.pss_mb([process.pid])
        process.communicate()

    assert 1 < found < 100


def test_a_process_that_does_not_start_has_its_last_words_told(tmp_path: Path):
    script = tmp_path / "broken.py"
    script.write_text("raise SystemExit('no such thing')")

    with (
        pytest.raises(system.NotStarted, match="no such thing"),
        system.running([sys.executable, str(script)], None, tmp_path, lambda: False),
    ):
        pass


def test_what_is_started_is_on_its_core_from_the_first_instruction(tmp_path: Path):
    """A program that asks how many cores it has must hear of one."""
    core = min(os.sched_getaffinity(0))
    script = tmp_path / "cores.py"
    script.write_text("import os, sys; sys.exit(str(os.sched_getaffinity(0)))")

    with (
        pytest.raises(system.NotStarted, match=re.escape(f"{{{core}}}")),
        system.running([sys.executable, str(script)], core, tmp_path, lambda: False),
    ):
        pass

    assert len(os.sched_getaffinity(0)) > 1 or os.cpu_count() == 1


def test_a_program_that_does_not_exist_did_not_start(tmp_path: Path):
    with (
        pytest.raises(system.NotStarted, match="No such file"),
        system.running(["/nowhere/program"], None, tmp_path, lambda: False),
    ):
        pass
