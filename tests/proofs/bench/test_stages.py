"""The profile: each stack belongs to one stage, the innermost that has one."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from bench import stages, watched

ROOT = Path(stages.__file__).parents[1]
LIBRARY = "/anywhere/lib/python3.11/site-packages"


@pytest.mark.parametrize(
    ("files", "stage"),
    [
        ([f"{ROOT}/gateway/net/server/x.py", f"{ROOT}/gateway/http/y.py"], "our listener"),
        ([f"{ROOT}/gateway/http/server.py"], "from the row"),
        (["/anywhere/lib/python3.11/re.py", f"{ROOT}/policies/traffic/quota.py"], "quota"),
        ([f"{ROOT}/policies/authentication/basic.py"], "credentials"),
        ([f"{LIBRARY}/aiohttp/web.py", f"{ROOT}/gateway/http/server.py"], "aiohttp"),
        (["/anywhere/lib/python3.11/asyncio/events.py"], "event loop"),
        (["/somewhere/else.py"], "all else"),
        ([""], "all else"),
    ],
)
def test_a_stack_counts_for_its_innermost_stage(files: list[str], stage: str):
    assert stages.stage_of(files).startswith(stage)


def test_samples_are_added_up_and_shown_by_share():
    line = f"{ROOT}/policies/traffic/quota.py"

    rows = list(stages.table(stages.by_stage([f"1 {line}", f"2 {line};/x.py", "1 /x.py"])))

    assert rows[0] == "| Stage (4 samples) | Share |"
    assert rows[2:] == [
        "| quota, throttle, permission, scope, state | 75% |",
        "| all else | 25% |",
    ]


def test_what_was_noted_can_be_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(watched, "_noted", Counter())
    watched.note(27, sys._getframe())
    watched.write(tmp_path / "stacks")

    [line] = (tmp_path / "stacks").read_text().splitlines()
    assert line.startswith(f"1 {__file__};")
