"""What every test may ask for: servers of others, found as ``tests/servers`` says, else skipped."""

from __future__ import annotations

import gc
import logging
import os
import uuid
from collections.abc import AsyncIterator, Generator, Iterator
from contextvars import Context, copy_context
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings

from tests import rings
from tests.seeded_ids import SeededIds
from tests.servers import chromium, in_memory, loopback, postgres, redis
from tests.servers.postgres import PostgresServer
from tests.servers.redis import RedisServer
from tests.world import statements
from tests.world import store as migrated_stores

if TYPE_CHECKING:  # a quarter of a second, of which most runs have no use
    from playwright.async_api import Browser

# A shared machine is slow now and then: time is no property of a parser.
_patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}
settings.register_profile("few", max_examples=20, derandomize=True, **_patient)
settings.register_profile("usual", max_examples=100, derandomize=True, **_patient)
settings.register_profile("random", max_examples=1_000, print_blob=True, **_patient)
_profile = os.environ.get("HYPOTHESIS_PROFILE", "usual")
settings.load_profile(_profile)
_ids = SeededIds(uuid.uuid4)

OF_A_REQUEST = frozenset({"access_record", "trace_id", "traceparent"})
"""The context variables of a request, of which there are no others (``ContextVar`` in gateway/)."""


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in rings.MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    statements.share()
    in_memory.keep()
    if _profile != "random":
        uuid.uuid4 = _ids


def pytest_runtest_setup(item: pytest.Item) -> None:
    _ids.begin(item.nodeid)


def pytest_runtest_logfinish() -> None:
    _ids.end()


def _is_of_this_test(record: logging.LogRecord) -> bool:
    """Leave out what the collector says of a future or task that an earlier test has left."""
    said = record.msg if record.name == "asyncio" else ""
    return not ("was never retrieved" in said or said.startswith("Task was destroyed"))


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log of this test alone."""
    caplog.handler.addFilter(_is_of_this_test)
    return caplog


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their ring, before ``-m`` chooses among them."""
    rings.mark(items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are found, which all stay: a quarter of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Never look again for garbage among modules and tests: they stay to the end."""
    gc.freeze()


def pytest_sessionstart() -> None:
    loopback.stay()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the figures that tests have recorded; what a worker prints goes nowhere."""
    reports = (one for each in terminalreporter.stats.values() for one in each)
    for report in reports:
        # that of the teardown has them too
        if getattr(report, "when", "") == "call":
            for text in (text for name, text in report.user_properties if name == "figures"):
                terminalreporter.write_line(text)


@pytest.fixture(autouse=True)
def outside_of_a_request() -> Iterator[None]:
    """No test goes on in the request of the one before: plain tests share one context."""
    yield
    for variable in copy_context():
        if variable.name in OF_A_REQUEST:
            variable.set(Context().run(variable.get))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with postgres.running() as server:
        yield server


@pytest.fixture
async def postgres_url(postgres_server: PostgresServer) -> AsyncIterator[str]:
    """Address of an empty database of this test alone, ``postgresql+asyncpg://``."""
    name = f"test_{uuid.uuid4().hex}"
    yield await postgres_server.create(name)
    await postgres_server.drop(name)


@pytest.fixture(scope="session")
def migrated_database(postgres_server: PostgresServer) -> Iterator[str]:
    """Name a database with nothing in it but today's schema."""
    with migrated_stores.migrated_database(postgres_server) as name:
        yield name


@pytest.fixture
async def migrated_postgres_url(
    postgres_server: PostgresServer, migrated_database: str
) -> AsyncIterator[str]:
    """Address of a store of this test alone, without a stamp."""
    name = f"test_{uuid.uuid4().hex}"
    yield await postgres_server.create(name, template=migrated_database)
    await postgres_server.drop(name)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    with redis.running() as server:
        yield server


@pytest.fixture
async def redis_url(redis_server: RedisServer) -> str:
    await redis_server.empty()
    return redis_server.url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for the whole run; its loop is the session's, so its tests are too."""
    async with chromium.running() as started:
        yield started
