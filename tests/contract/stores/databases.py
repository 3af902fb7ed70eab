"""
Which databases a test of the store runs on.

A test runs on SQLite. ``both`` adds PostgreSQL where the two may differ: branches by dialect,
locks, concurrency, group commit, migrations, types; and each statement is run there by at least
one test. ``TEST_EXTENT=whole`` runs everything on both.
"""

from __future__ import annotations

import pytest

from tests.world.extent import WHOLE

BOTH = ["sqlite", "postgres"]
USUAL = BOTH if WHOLE else ["sqlite"]

both = pytest.mark.parametrize("kind", BOTH, indirect=True)
"""For a test, or as a module's ``pytestmark``."""

server_alone = pytest.mark.parametrize("kind", ["postgres"], indirect=True)
"""For a test of what a file has not."""
