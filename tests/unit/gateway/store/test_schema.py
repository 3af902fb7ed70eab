"""What is known of the schema without running it."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import Script, ScriptDirectory

from gateway.store import schema

PREPARED_ONLY = """
import sys
import gateway.store.schema
sys.exit(", ".join({"alembic", "asyncpg", "aiosqlite"} & sys.modules.keys()) or 0)
"""


def scripts() -> list[Script]:
    """Every migration, newest first."""
    config = Config()
    config.set_main_option("script_location", "gateway.store:migrations")
    return list(ScriptDirectory.from_config(config).walk_revisions())


def test_every_revision_is_listed_in_order() -> None:
    found = [script.revision for script in scripts()]

    assert tuple(reversed(found)) == schema.REVISIONS


def test_the_compatibility_of_the_last_migration_is_read_without_running_it() -> None:
    assert scripts()[0].module.compatible_with == schema.COMPATIBLE_WITH


@pytest.mark.process
def test_startup_does_not_import_migrations() -> None:
    """And no driver before its kind is known."""
    done = subprocess.run(
        [sys.executable, "-c", PREPARED_ONLY],
        check=False,
        cwd=Path.cwd(),
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")
