"""A balance and a payout take no more Python calls than they did: each is paid for every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Final

import pytest

from tests.world.tree import ROOT

MOST: Final = {(3, 11): {"balance": 245, "payout": 2978}}
"""
Calls by version of Python: each version counts, and inlines, in its own way.

The number of a run is in the message of a failure, and the last line of
``python -m tests.surfaces.banking.python_calls``; ``python_calls balance`` there lists the
functions, to be compared with those of the commit before. Write a lower number here with the
change that saves; a higher one needs a reason in the commit's message.
"""


@pytest.mark.process
@pytest.mark.skipif(sys.version_info[:2] not in MOST, reason="nobody counted on this Python yet")
def test_a_request_stays_within_its_number_of_python_calls():
    """In a separate process with a fixed hash seed, not influenced by other tests."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.surfaces.banking.python_calls"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )

    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout.splitlines()[-1])
    most = MOST[sys.version_info[:2]]
    assert {name: calls for name, calls in counted.items() if calls > most[name]} == {}
