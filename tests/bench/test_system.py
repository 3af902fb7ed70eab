"""What the kernel is asked: process trees, their time, their memory."""

import os
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
        deadline = time.monotonic() + 10
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
    assert 5 < system.pss_mb(os.getpid()) < 1000


def test_a_process_that_does_not_start_has_its_last_words_told(tmp_path: Path):
    script = tmp_path / "broken.py"
    script.write_text("raise SystemExit('no such thing')")

    with (
        pytest.raises(system.NotStarted, match="no such thing"),
        system.running([sys.executable, str(script)], None, tmp_path, lambda: False),
    ):
        pass
