"""The clocks of the process, and how far it steps back behind others."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine

from gateway.core.account import Environment
from gateway.process.process import OFFSET, wall_clock

NEW_YEAR_S_EVE = datetime(2027, 12, 31, 23, 59, tzinfo=UTC)
AUTOGROUP = Path("/proc/self/autogroup")
STEPPING_BACK = """
from pathlib import Path
from gateway.process.process import step_back
group = Path("/proc/self/autogroup")
before = group.read_text()
step_back(7)
print(group.read_text() != before, group.read_text().endswith("nice 7\\n"))
"""


def away(environment: Environment, offset: str) -> float:
    """Return how far a clock of this environment is from the real one, in seconds."""
    with time_machine.travel(NEW_YEAR_S_EVE, tick=False):
        now = wall_clock(environment, {OFFSET: offset} if offset else {})()
    assert now.tzinfo is UTC
    return (now - NEW_YEAR_S_EVE).total_seconds()


@pytest.mark.parametrize("environment", list(Environment))
def test_the_wall_clock_is_utc(environment: Environment):
    assert away(environment, "") == 0


def test_the_sandbox_clock_accepts_an_offset():
    offsets = {"3600": 3600, "-86400": -86400, "+0.5": 0.5}

    assert {text: away(Environment.SANDBOX, text) for text in offsets} == offsets


def test_the_production_clock_ignores_an_offset():
    assert away(Environment.PRODUCTION, "86400") == 0


def test_a_clock_offset_that_is_not_a_number_is_refused_at_startup():
    with pytest.raises(ValueError, match="tomorrow"):
        wall_clock(Environment.SANDBOX, {OFFSET: "tomorrow"})


def stepped_back(*, own_session: bool) -> str:
    """Return whether the session of a process that stepped back has another priority, and ours."""
    command = [sys.executable, "-c", STEPPING_BACK]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, start_new_session=own_session
    )
    return done.stdout.strip()


@pytest.mark.process
@pytest.mark.skipif(not AUTOGROUP.exists(), reason="the system shares out among processes alone")
@pytest.mark.parametrize(("own_session", "said"), [(True, "True True"), (False, "False False")])
def test_the_whole_session_gets_a_lower_priority(own_session: bool, said: str):
    """Otherwise the worker's priority would apply only among its own threads."""
    assert stepped_back(own_session=own_session) == said
