"""What is kept of a statement, and when it is not believed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Direction, Entry
from gateway.core.money import Money
from gateway.core.windows import Paging
from gateway.process.cache import MemoryCache
from gateway.statements.snapshots import Snapshots
from tests.world.standing import NOON
from tests.world.tree import ROOT, modules


def entries(count: int) -> list[Entry]:
    return [
        Entry(
            provider_id=str(number),
            e2e_id="",
            direction=Direction.DEBIT,
            is_pix=True,
            value=Money(number),
            description="",
            counterparty=Party(),
            created_at=NOON - timedelta(seconds=number),
        )
        for number in range(count)
    ]


def kept(cache: MemoryCache, most_bytes: int = 2**20) -> Snapshots:
    return Snapshots(cache=cache, keep_s=60, most_bytes=most_bytes)


@pytest.mark.parametrize("total", [0, 1, 99, 100, 101, 250, 1_500])
@pytest.mark.parametrize(
    "paging", [Paging(1, 100), Paging(2, 75), Paging(3, 100), Paging(10**18, 1)]
)
async def test_a_page_of_a_snapshot_is_a_slice_of_the_whole(total: int, paging: Paging):
    snapshots, whole = kept(MemoryCache(2**20)), entries(total)
    await snapshots.keep("k", whole)

    cut = await snapshots.page("k", paging)

    assert cut is not None
    assert list(cut.entries) == whole[paging.offset : paging.offset + paging.limit]
    assert cut.total == total


async def test_parts_of_two_snapshots_are_never_mixed():
    """Another process may replace one between two reads of a page."""
    cache = MemoryCache(2**20)
    await kept(cache).keep("k", entries(250))
    old_head = await cache.get("k")
    await kept(cache).keep("k", entries(200))
    parts = [await cache.get("k", number) or b"" for number in (1, 2)]
    await cache.put("k", [old_head or b"", *parts], 60)

    assert await kept(cache).page("k", Paging(2, 100)) is None


async def test_a_snapshot_missing_a_part_is_not_used():
    cache = MemoryCache(2**20)
    await kept(cache).keep("k", entries(250))
    parts = [await cache.get("k", number) or b"" for number in range(3)]
    await cache.put("k", parts, 60)

    assert await kept(cache).page("k", Paging(2, 100)) is not None
    assert await kept(cache).page("k", Paging(3, 100)) is None


async def test_a_snapshot_is_kept_up_to_the_maximum_size():
    whole = entries(150)
    cache = MemoryCache(2**20)
    await kept(cache).keep("k", whole)
    size = sum([len(await cache.get("k", number) or b"") for number in range(3)])

    assert await kept(cache, size).keep("k", whole)
    assert not await kept(cache, size - 1).keep("k", whole)
    assert await kept(cache).page("k", Paging(1, 1)) is None


def test_only_statements_import_snapshots():
    """Follow-up, reviews, reports and verification ask the bank itself."""
    name = "gateway.statements.snapshots"

    importing = {str(path) for path in modules() if f"from {name} import" in read(path)}

    assert importing == {"gateway/app/services.py", "gateway/statements/reads.py"}


def read(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
