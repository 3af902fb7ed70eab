"""The servers that other tests stand on."""

import socket
import subprocess
import sys

import asyncpg
import pytest
from redis.asyncio import Redis

from tests.servers import postgres, process
from tests.servers.demand import absent
from tests.servers.process import free_port


async def select_one(url: str) -> int:
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


def test_ports_are_given_back_in_the_order_in_which_they_were_found():
    """A campaign that starts a thousand processes takes none of the others' ports for ever."""
    first = free_port()

    found = {free_port() for _ in range(200)}

    assert len(found) == 200
    assert first not in process._ours


async def test_each_test_has_a_database_of_its_own(postgres_url: str):
    assert await select_one(postgres_url) == 1


async def test_a_database_may_be_the_copy_of_another(postgres_server, postgres_url: str):
    """A migrated template makes a fresh store in milliseconds."""
    template = postgres_url.rsplit("/", 1)[1]

    url = await postgres_server.create(f"{template}_copy", template=template)

    assert await select_one(url) == 1
    await postgres_server.drop(f"{template}_copy")


async def test_postgres_runs_from_the_wheel_where_the_system_has_none(monkeypatch):
    """A machine with Python alone still tests the store on PostgreSQL."""
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    monkeypatch.setenv("TEST_PG", "wheel")

    with postgres.running() as server:
        assert await select_one(server.url("postgres")) == 1


async def test_redis_is_empty_at_the_start_of_a_test(redis_url: str):
    client = Redis.from_url(redis_url)

    keys = await client.dbsize()

    await client.aclose()
    assert keys == 0


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
