"""The store that a command opens: its schema, its environment, its address and its keys."""

import sqlite3

import pytest


def test_a_store_that_needs_a_manual_migration_is_refused_with_the_command(fresh_shell):
    config = fresh_shell.folder / "config.yaml"
    config.write_text(f"var: {fresh_shell.folder}\ndatabase: {{migrate: never}}\n")

    line = fresh_shell.fails("company", "list", "--config", str(config))

    assert "run `pixgate db upgrade`" in line
    assert "\n" not in line


def test_a_store_of_the_other_environment_is_refused(shell):
    """By its stamp."""
    shell.says("db", "upgrade")
    with sqlite3.connect(shell.folder / "pixgate.db") as database:
        database.execute("UPDATE store_stamp SET environment = 'production'")
    database.close()

    line = shell.fails("company", "list")

    assert line == "Error: The store belongs to production, this gateway to sandbox."


@pytest.mark.parametrize("url", ["mysql://root:hidden@db/x", "sqlite://"])
def test_an_invalid_database_url_is_refused_without_its_password(shell, url: str):
    shell.environ["PIXGATE_DATABASE_URL"] = url

    line = shell.fails("company", "list")

    assert "\n" not in line
    assert "hidden" not in line


def test_an_invalid_key_file_is_reported_in_one_line(shell):
    (shell.folder / "keys.json").write_text("{")

    assert "keys.json" in shell.fails("company", "list")
