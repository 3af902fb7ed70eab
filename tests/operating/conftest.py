"""
Faults around the service, one at a time, and what of it must not be felt.

Every test here is marked ``operating``: ``.ci/run`` runs it small, ``make operating`` whole.
No load is above 100 requests a second and 30 seconds.
"""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def whole() -> bool:
    """Is the test to run at its full size? The pipeline has minutes for all of them."""
    return os.environ.get("TEST_OPERATING") == "whole"
