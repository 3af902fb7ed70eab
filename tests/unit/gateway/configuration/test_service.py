"""What is told of the configuration."""

from __future__ import annotations

from gateway.config.effective import effective
from gateway.config.settings import Settings
from gateway.configuration.service import Configuration, Migrations
from tests.unit.gateway.http.surface import STAFF


async def test_a_store_without_tables_is_at_no_revision():
    async def nothing() -> None:
        return None

    told = await Configuration(
        version="1.0.0",
        settings=Settings(),
        revision=nothing,
        revisions=("0001", "0002"),
    ).read(STAFF.staff)

    assert told.migrations == Migrations(current="", wanted="0002", known=["0001", "0002"])
    assert told.config == effective(Settings())
