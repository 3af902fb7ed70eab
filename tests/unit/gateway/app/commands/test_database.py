"""``pixgate db``."""

import sqlite3

import pytest


def test_a_store_is_upgraded(fresh_shell):
    before = fresh_shell.reads("db", "current")

    after = fresh_shell.reads("db", "upgrade")

    assert before == {"revision": None, "wanted": after["revision"]}
    assert fresh_shell.reads("db", "upgrade") == after


def test_a_store_is_downgraded_and_upgraded_again(shell):
    shell.says("db", "upgrade")

    assert shell.reads("db", "downgrade", "base", "--yes") == {"revision": None}
    assert shell.reads("db", "upgrade")["revision"]


def test_a_store_is_not_downgraded_to_a_newer_schema(shell):
    shell.says("db", "upgrade")
    shell.says("db", "downgrade", "base", "--yes")

    assert "0001 is not older" in shell.fails("db", "downgrade", "0001", "--yes")
    assert shell.reads("db", "current")["revision"] is None


@pytest.mark.parametrize("command", [("db", "current"), ("db", "upgrade"), ("user", "list")])
def test_a_store_older_than_the_first_release_is_refused_in_one_line(fresh_shell, command):
    with sqlite3.connect(fresh_shell.folder / "pixgate.db") as database:
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.execute("INSERT INTO alembic_version VALUES ('0031')")
    database.close()

    line = fresh_shell.fails(*command)

    assert line.strip() == (
        "Error: The store was made before the first release: `make clean` removes it, or delete it."
    )


def test_a_downgrade_requires_confirmation(shell):
    shell.says("db", "upgrade")

    assert "--yes" in shell.fails("db", "downgrade", "base", status=2)
    assert shell.reads("db", "current")["revision"]


@pytest.mark.parametrize(
    ("revision", "lost"),
    [
        ("base", ["stops of payouts", "limits of credentials", "came back"]),
        ("0001", []),
    ],
)
def test_lost_money_records_are_listed(shell, revision: str, lost: list[str]):
    """A credential without its limits can pay anything; a lost stop stops nothing."""
    shell.says("db", "upgrade")

    said = shell.fails("db", "downgrade", revision, status=2)

    named = ["stops of payouts", "limits of credentials", "came back"]
    assert [each for each in named if each in said] == lost
    assert "--yes" in said


def test_an_unknown_schema_is_named(shell):
    assert "'9999'" in shell.fails("db", "downgrade", "9999", "--yes")


def test_the_other_environment_s_store_is_left_alone(shell, tmp_path):
    """A store belongs to one environment for ever."""
    shell.says("db", "upgrade")
    config = tmp_path / "production.yaml"
    config.write_text(
        "environment: production\n"
        f"database: {{url: 'sqlite:///{tmp_path}/pixgate.db', allow_sqlite_in_production: true}}\n"
    )

    line = shell.fails("db", "downgrade", "base", "--yes", "--config", str(config))

    # An old SQLite library is refused there first.
    assert "belongs to sandbox" in line or "needs SQLite" in line
    assert shell.reads("db", "current")["revision"]
