"""What is told of the configuration."""

from __future__ import annotations

from gateway.http.backoffice.administration.configuration import Configuration
from tests.unit.gateway.http.backoffice.surface import STAFF, line


def test_the_row_is_the_one_decided():
    """Of security and administration alone: it names hosts of the operator."""
    assert line("config") == ("GET", "/config", "config:read", 200)


async def test_a_store_without_tables_is_at_no_revision():
    async def nothing() -> None:
        return None

    told = await Configuration(
        version="1.0.0",
        environment="sandbox",
        digest="d",
        shown=lambda: {"var": "var"},
        revision=nothing,
        revisions=("0001", "0002"),
    ).read(STAFF, None)

    assert told["migrations"] == {"current": "", "wanted": "0002", "known": ["0001", "0002"]}
    assert told["config"] == {"var": "var"}
