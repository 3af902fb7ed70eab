"""What the tests of the listener share."""

import pytest

from tests.world.wired import Seen


@pytest.fixture
def seen() -> Seen:
    """What reached the application of this test, and what was refused before it."""
    return Seen()
