"""
Processes of their own, started, stopped and killed; faults around them, one at a time.

``.ci/run`` runs them small, ``make proofs`` at full size.
No load is above 100 requests a second and 30 seconds.
"""

from __future__ import annotations

import pytest

from tests.world.extent import WHOLE


@pytest.fixture(scope="session")
def whole() -> bool:
    """Whether the test runs at its full size."""
    return WHOLE
