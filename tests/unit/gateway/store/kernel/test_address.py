"""A store's URL: the forms people write, and none that means something else."""

import pytest

from gateway.store.kernel.address import address, is_sqlite


def test_a_store_url_is_given_our_driver() -> None:
    """SQLAlchemy's default for ``postgresql://`` is another driver."""
    cases = [
        ("sqlite:///var/pixgate.db", "sqlite+aiosqlite:///var/pixgate.db"),
        ("sqlite+aiosqlite:////srv/pixgate.db", "sqlite+aiosqlite:////srv/pixgate.db"),
        ("postgres://u:p@db/pix", "postgresql+asyncpg://u:p@db/pix"),
        ("postgresql://u:p%40@db:5433/pix", "postgresql+asyncpg://u:p%40@db:5433/pix"),
        ("postgresql+asyncpg:///pix?host=/run/pg", "postgresql+asyncpg:///pix?host=%2Frun%2Fpg"),
        ("postgresql://db/pix?sslmode=require", "postgresql+asyncpg://db/pix?ssl=require"),
        (
            "postgresql://db/pix?pooler=transaction",
            "postgresql+asyncpg://db/pix?pooler=transaction",
        ),
        (
            "postgresql://db/pix?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            "postgresql+asyncpg://db/pix?ssl=verify-full&sslrootcert=%2Fetc%2Fca.pem",
        ),
        (
            "postgresql:///pix?host=a:5432&host=b:5433&target_session_attrs=read-write",
            "postgresql+asyncpg:///pix?host=a%3A5432&host=b%3A5433&target_session_attrs=read-write",
        ),
        ("postgresql://db/pix?ssl=verify-full", "postgresql+asyncpg://db/pix?ssl=verify-full"),
    ]

    for given, named in cases:
        read = address(given)

        assert read.render_as_string(hide_password=False) == named
        assert is_sqlite(read) == given.startswith("sqlite")


def test_an_unsupported_store_url_is_refused_without_being_quoted() -> None:
    """It may contain a password."""
    cases = [
        "",
        "pixgate.db",
        "mysql://db/pix",
        "postgresql+psycopg://db/pix",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite://host/pixgate.db",
        "sqlite:///pixgate.db?mode=ro",
        "sqlite:///pixgate.db?pooler=none",
        "postgresql://db",
        "postgresql://db/pix?options=-cfsync=off",
        "postgresql://u:hush@db:port/pix",
        "postgresql://db/pix?target_session_attrs=standby",
        "postgresql://db/pix?sslrootcert=/etc/ca.pem",
        "postgresql://db/pix?sslmode=require&sslrootcert=/a.pem&sslrootcert=/b.pem",
        "postgresql:///pix?host=a:5432&host=b",
    ]

    for given in cases:
        with pytest.raises(ValueError, match=r"store's URL|SQLite store") as caught:
            address(given)

        assert "hush" not in str(caught.value)
        assert caught.value.__cause__ is None
