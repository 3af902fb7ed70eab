"""The servers that other tests stand on."""

import socket
import subprocess
import sys

import asyncpg
import pytest

from tests.servers import postgres
from tests.servers.demand import absent
from tests.servers.process import free_port


async def select_one(url: str) -> int:
    """Ask the simplest question there is."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""), timeout=10)
    try:
        return await connection.fetchval("SELECT 1")
    finally:
        await connection.close()


def test_no_other_process_that_tests_is_given_our_ports():
    """Seconds may pass between choosing a port and listening on it."""
    ours = free_port()
    asked = f"from tests.servers import process; print(process._claimed({ours}))"

    other = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)

    assert other.stdout.strip() == b"False"
    assert free_port() != ours


async def test_postgres_runs_from_the_wheel_where_the_system_has_none(monkeypatch):
    """A machine with Python alone still tests the store on PostgreSQL."""
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    monkeypatch.setenv("TEST_PG", "wheel")

    with postgres.running() as server:
        assert await select_one(server.url("postgres")) == 1


def test_what_is_absent_is_skipped_with_its_reason(monkeypatch):
    monkeypatch.setenv("TEST_REQUIRE", "redis")

    with pytest.raises(pytest.skip.Exception, match="not installed"):
        absent("postgres", "not installed")


def test_what_is_required_fails_instead(monkeypatch):
    """A pipeline cannot turn green because a server did not start."""
    monkeypatch.setenv("TEST_REQUIRE", "redis, postgres")

    with pytest.raises(pytest.fail.Exception, match="not installed"):
        absent("postgres", "not installed")


def test_a_test_may_not_leave_this_machine():
    """192.0.2.1 is reserved for documentation (RFC 5737); nobody answers there either way."""
    with socket.socket() as outside, pytest.raises(PermissionError, match=r"192\.0\.2\.1"):
        outside.connect(("192.0.2.1", 9))
