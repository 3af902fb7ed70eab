"""
Faults around the service, one at a time, and what of it must not be felt.

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
