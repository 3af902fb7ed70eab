"""A round of writing: it counts what is stored, and believes nobody."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.writing import NotStored, Subject, named, standing, take_round
from gateway.store.payouts.writes import Write, WriteResult


@pytest.fixture
async def subject(tmp_path: Path) -> AsyncIterator[Subject]:
    """Four writers on a file, together."""
    async with standing("SQLite", f"sqlite:///{tmp_path}/store.db") as subjects:
        yield replace(subjects[0], writers=4)


async def test_a_round_says_what_it_took(subject: Subject):
    taken, server_us = await take_round(subject, 0.2)

    assert taken.answers > 0
    assert 0.2 <= taken.seconds < 2
    assert 0 < taken.p50_ms <= taken.p99_ms
    assert server_us == 0


async def test_a_store_that_only_says_so_is_found_out(subject: Subject):
    async def forget(_write: Write) -> WriteResult:
        await asyncio.sleep(0)
        return True

    with pytest.raises(NotStored, match="told, 0 stored"):
        await take_round(replace(subject, do=forget, writers=1), 0.001)


async def test_a_refused_write_ends_it(subject: Subject):
    async def refuse(_write: Write) -> WriteResult:
        return False

    with pytest.raises(NotStored):
        await take_round(replace(subject, do=refuse), 0.05)


def test_rows_are_named():
    assert named("SQLite", "grouped", 1) == "SQLite, grouped, 1 writer"
    assert named("SQLite", "grouped", 16) == "SQLite, grouped, 16 writers"
